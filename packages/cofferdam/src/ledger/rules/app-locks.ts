import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type AppLock, type AppLockPolicy, appLockAnnotation, judgeAppLocks, type LockableBudget } from './app-lock.ts'

/** Annotation on a budget that its owner keeps locked: since when, without a break. */
export const lockedSinceAnnotation = 'cofferdam.io/locked-since'

/** What must be known of a budget to decide whether its owner has locked it. */
export interface AnnotatedBudget {
  readonly name: string
  readonly annotations: Readonly<Record<string, string>>
}

/** Undefined for a budget that nobody tried to lock. */
export function lockableBudget({ name, annotations }: AnnotatedBudget): LockableBudget | undefined {
  const text = annotations[appLockAnnotation]
  if (text === undefined) return undefined
  const heldSinceMs = parseRfc3339(annotations[lockedSinceAnnotation] ?? '')
  return { name, text, ...(heldSinceMs === undefined ? {} : { heldSinceMs }) }
}

/** The locks that count among the budgets of one namespace, by name of the budget. */
export function appLocksInForce(
  budgets: readonly LockableBudget[],
  policy: AppLockPolicy,
  nowMs: number,
): ReadonlyMap<string, AppLock> {
  const judged = judgeAppLocks(budgets, policy, nowMs)
  return new Map([...judged].flatMap(([name, { lock }]) => (lock === undefined ? [] : [[name, lock] as const])))
}
