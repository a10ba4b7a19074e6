import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type AnnotatedBudget, appLockAnnotation } from '../../shared/app-lock-annotation.ts'
import type { Reason } from '../../shared/reasons.ts'
import { type AppLock, type AppLockQuestion, judgeAppLocks, type ParsedAppLock } from './app-lock.ts'

/** Everything that is seen before an owner's lock is written. */
export interface LockQuestion extends AppLockQuestion {
  /** Which budget is to be locked. */
  readonly name: string
  readonly holder: string
  readonly reason: string
  readonly forMs: number
  /** Whether a lock of somebody else is taken over. */
  readonly isForced: boolean
}

export type LockAnswer =
  | {
      readonly allowed: true
      /** What `cofferdam.io/lock` is to say. */
      readonly text: string
      readonly lock: AppLock
      /** The lock that was taken over. */
      readonly takenFrom: AppLock | undefined
      /** Why it ends sooner than was asked for. */
      readonly problem: string | undefined
    }
  | {
      readonly allowed: false
      readonly reason: Reason
      readonly explanation: string
      readonly wayOut: string
      /** What stands in the way. */
      readonly lock: AppLock | undefined
    }

/**
 * Decides whether an owner may lock a budget, and what is then written on it.
 *
 * Guarantees: what it allows is a lock that counts at once, judged as everybody else will judge it.
 */
export function decideLock(question: LockQuestion): LockAnswer {
  const { nowMs, name, budgets, holder, reason, forMs, isForced, policy } = question
  const judged = judgeAppLocks(question)
  const standing = judged.get(name)?.lock
  const isForeign = standing !== undefined && standing.holder !== holder
  if (isForeign && !isForced) {
    return {
      allowed: false,
      reason: 'AppLocked',
      explanation: `${standing.holder} has locked it until ${rfc3339(standing.untilMs)}: ${standing.reason}.`,
      wayOut: `It ends by itself; --force takes it over from ${standing.holder}.`,
      lock: standing,
    }
  }
  const text = JSON.stringify({ holder, reason, since: rfc3339(nowMs), until: rfc3339(nowMs + forMs) })
  const others = budgets.filter((each) => each.name !== name)
  const annotations = { ...budgets.find((each) => each.name === name)?.annotations, [appLockAnnotation]: text }
  const next: AnnotatedBudget = { name, annotations, lockWrittenMs: nowMs }
  // What carries a lock is judged, and what does not count has a problem.
  const then = judgeAppLocks({ ...question, budgets: [...others, next] }).get(name) as ParsedAppLock
  if (then.lock !== undefined) {
    const takenFrom = isForeign ? standing : undefined
    return { allowed: true, text, lock: then.lock, takenFrom, problem: then.problem }
  }
  const inForce = [...judged].flatMap(([other, { lock }]) => (lock === undefined || other === name ? [] : [other]))
  const isFull = inForce.length >= policy.maxPerNamespace
  return {
    allowed: false,
    reason: 'LockRefused',
    explanation: isFull
      ? `its namespace has ${inForce.length} locks already, and may have ${policy.maxPerNamespace}: ${inForce.join(', ')}.`
      : `${then.problem}.`,
    wayOut: isFull
      ? 'Unlock one of them, or wait until one ends.'
      : 'Lock it again 10 minutes after its last lock has ended.',
    lock: standing,
  }
}
