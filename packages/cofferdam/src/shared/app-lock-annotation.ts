import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { lastWriterOf } from './last-writer.ts'

/** On a budget: the lock of its owner. */
export const appLockAnnotation = 'cofferdam.io/lock'

/** On a budget, by an earlier version: since when its owner has kept it locked. The ledger says so now. */
export const lockedSinceAnnotation = 'cofferdam.io/locked-since'

/** What must be known of a budget to decide whether its owner has locked it. */
export interface AnnotatedBudget {
  readonly name: string
  readonly annotations: Readonly<Record<string, string>>
  /** When the lock on it was written, by the time of the API server; an owner can spoil it. */
  readonly lockWrittenMs?: number
}

/** By its managed fields; nothing for a budget without a lock, and for one that says nothing of it. */
export function lockWritten(budget: KubeObject): Pick<AnnotatedBudget, 'lockWrittenMs'> {
  if (budget.metadata.annotations?.[appLockAnnotation] === undefined) return {}
  const { time } = lastWriterOf(budget, ['metadata', 'annotations', appLockAnnotation])
  const lockWrittenMs = time === undefined ? undefined : parseRfc3339(time)
  return lockWrittenMs === undefined ? {} : { lockWrittenMs }
}
