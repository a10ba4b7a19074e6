import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { harmlessJson } from '../../../shared/harmless-text.ts'

/** Annotation on a Node: who last asked for the eviction of one of its pods, granted or not. Each guard writes what it saw. */
export const evictionAttemptedAnnotation = 'cofferdam.io/eviction-attempted'

export interface EvictionAttempt {
  readonly by: string
  readonly atMs: number
  /** What the guard refused it for: an object, and a reason in brackets. */
  readonly refusedFor?: string
}

export function buildAttempt({ by, atMs, refusedFor }: EvictionAttempt): string {
  return harmlessJson(JSON.stringify({ by, at: rfc3339(atMs), ...(refusedFor === undefined ? {} : { refusedFor }) }))
}

/** Undefined for what cannot be read: anybody may write annotations, and nothing rests on this one being there. */
export function parseAttempt(text: string | undefined): EvictionAttempt | undefined {
  if (text === undefined) return undefined
  try {
    const { by, at, refusedFor } = JSON.parse(text) as { by?: unknown; at?: unknown; refusedFor?: unknown }
    const atMs = typeof at === 'string' ? parseRfc3339(at) : undefined
    if (typeof by !== 'string' || atMs === undefined) return undefined
    return { by, atMs, ...(typeof refusedFor === 'string' ? { refusedFor } : {}) }
  } catch {
    return undefined
  }
}
