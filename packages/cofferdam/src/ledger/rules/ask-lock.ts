import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Reason } from '../../shared/reasons.ts'
import { type AppLock, type AppLockPolicy, judgeAppLocks, type LockableBudget } from './app-lock.ts'

/** Everything that is seen before an owner's lock is written. */
export interface LockQuestion {
  readonly nowMs: number
  /** Which budget is to be locked. */
  readonly name: string
  /** All budgets of its namespace that carry a lock. */
  readonly locked: readonly LockableBudget[]
  readonly holder: string
  readonly reason: string
  readonly forMs: number
  /** Whether a lock of somebody else is taken over. */
  readonly isForced: boolean
  readonly policy: AppLockPolicy
}

export type LockAnswer =
  | {
      readonly allowed: true
      /** What `cofferdam.io/lock` is to say. */
      readonly text: string
      /** Since when the budget has been locked without a break. */
      readonly heldSinceMs: number
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
  const { nowMs, name, locked, holder, reason, forMs, isForced, policy } = question
  const judged = judgeAppLocks(locked, policy, nowMs)
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
  const before = standing === undefined ? undefined : locked.find((each) => each.name === name)
  const heldSinceMs = Math.min(nowMs, before?.heldSinceMs ?? nowMs)
  const text = JSON.stringify({ holder, reason, since: rfc3339(nowMs), until: rfc3339(nowMs + forMs) })
  const others = locked.filter((each) => each.name !== name)
  const then = judgeAppLocks([...others, { name, text, heldSinceMs }], policy, nowMs).get(name)
  if (then?.lock !== undefined) {
    const takenFrom = isForeign ? standing : undefined
    return { allowed: true, text, heldSinceMs, lock: then.lock, takenFrom, problem: then.problem }
  }
  const inForce = [...judged].flatMap(([other, { lock }]) => (lock === undefined || other === name ? [] : [other]))
  const isFull = inForce.length >= policy.maxPerNamespace
  return {
    allowed: false,
    reason: 'LockRefused',
    explanation: isFull
      ? `its namespace has ${inForce.length} locks already, and may have ${policy.maxPerNamespace}: ${inForce.join(', ')}.`
      : `${then?.problem ?? 'it would not count'}.`,
    wayOut: isFull ? 'Unlock one of them, or wait until one ends.' : 'Unlock it, and lock it again later.',
    lock: standing,
  }
}
