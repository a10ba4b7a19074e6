import type { HandOverCheck } from '../../shared/hand-over.ts'
import type { UninstallDecision } from '../../uninstall/decide-uninstall.ts'
import type { HandOverResult } from '../adopt/hand-over-result.ts'
import type { Removed } from './sweep.ts'

export type UninstallOutcome = 'planned' | 'blocked' | 'done' | 'unprotected' | 'timed-out'

export interface UninstallResult extends UninstallDecision {
  readonly outcome: UninstallOutcome
  /** What the outcome means. */
  readonly says: string
  /** What was handed back, in order. */
  readonly released: readonly Pick<HandOverResult, 'object' | 'to' | 'outcome' | 'says' | 'protection'>[]
  /** What was taken off, or is there to be taken off. */
  readonly removed: readonly Removed[]
  /** What is left to do by hand, or stays on purpose. */
  readonly notes: readonly string[]
  readonly next?: string
}

export function isBlocked({ checks }: { readonly checks: readonly HandOverCheck[] }): boolean {
  return checks.some(({ state }) => state === 'blocked')
}
