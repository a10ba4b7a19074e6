import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { NeverBegun } from './never-begun.ts'

/** What came of the attempt to start one OSD. */
export type StartOutcome =
  | { readonly osd: number; readonly result: 'started'; readonly version?: string }
  /** The object changed meanwhile, is gone, or somebody holds it: nothing is wrong with it, so it is decided anew. */
  | { readonly osd: number; readonly result: 'later'; readonly why: string; readonly isHeld?: boolean }
  /** The server does not take it. */
  | { readonly osd: number; readonly result: 'refused'; readonly why: string }
  /** Not about the OSD: a right is missing, or nobody answers. It may have happened or not. */
  | { readonly osd: number; readonly result: 'unsure'; readonly error: unknown }

export function neverBegun(outcome: StartOutcome): NeverBegun[] {
  if (outcome.result !== 'later' && outcome.result !== 'refused') return []
  return [{ osd: outcome.osd, why: outcome.why, isHeld: outcome.result === 'later' && outcome.isHeld === true }]
}

/** Where nobody answered it may have begun. */
export function hasNotBegun(outcome: StartOutcome): boolean {
  return outcome.result === 'unsure' ? isRightMissing(outcome.error) : outcome.result !== 'started'
}

const passing = ['Conflict', 'NotFound'] as const
const serverTrouble = ['InternalError', 'ServerTimeout', 'ServiceUnavailable', 'Timeout', 'Unauthorized'] as const

/** What an error of the API server says of the attempt. */
export function failedStart(osd: number, error: unknown): StartOutcome {
  if (isHeld(error)) return { osd, result: 'later', why: error.message, isHeld: true }
  if (hasReason(error, ...passing)) return { osd, result: 'later', why: error.message }
  const isAboutAll = hasReason(error, ...serverTrouble) || isRightMissing(error)
  if (isAboutAll || !(error instanceof ApiError)) return { osd, result: 'unsure', error }
  return { osd, result: 'refused', why: `the API server refused it: ${error.message}` }
}

/** By a budget, or while its pod is covered by two, which the API server answers with 500. */
function isHeld(error: unknown): error is ApiError {
  if (hasReason(error, 'TooManyRequests')) return true
  return error instanceof ApiError && error.message.includes('more than one PodDisruptionBudget')
}

/** Admission forbids one object; a missing right forbids all of them, and that is no failure of an OSD. */
export function isRightMissing(error: unknown): error is ApiError {
  return hasReason(error, 'Forbidden') && /cannot \w+ resource/.test(error.message)
}
