import type { AppLock, AppLockPolicy, LockableBudget } from '../ledger/rules/app-lock.ts'
import { appLocksInForce, lockableBudget } from '../ledger/rules/app-locks.ts'
import type { GuardedBudget } from './guarded-objects.ts'

/** Judging reads every lock of a namespace, and requests may come by the thousand. */
const judgedForMs = 1_000

interface NamespaceLocks {
  readonly budgets: Map<string, LockableBudget>
  judged: { readonly atMs: number; readonly locks: ReadonlyMap<string, AppLock> } | undefined
}

/** The budgets of each namespace that their owners have locked, or tried to. */
export class AppLockBook {
  readonly #policy: AppLockPolicy
  readonly #byNamespace = new Map<string, NamespaceLocks>()

  constructor(policy: AppLockPolicy) {
    this.#policy = policy
  }

  put(budget: GuardedBudget): void {
    const { namespace, name } = budget
    const lockable = lockableBudget(budget)
    if (lockable === undefined) {
      this.remove(budget)
      return
    }
    const held = this.#byNamespace.get(namespace) ?? { budgets: new Map<string, LockableBudget>(), judged: undefined }
    held.budgets.set(name, lockable)
    held.judged = undefined
    this.#byNamespace.set(namespace, held)
  }

  remove({ namespace, name }: Pick<GuardedBudget, 'namespace' | 'name'>): void {
    const held = this.#byNamespace.get(namespace)
    if (held === undefined || !held.budgets.delete(name)) return
    held.judged = undefined
    if (held.budgets.size === 0) this.#byNamespace.delete(namespace)
  }

  /** The lock of a budget that counts now: quota and limits are those of its whole namespace. */
  lockOf({ namespace, name }: Pick<GuardedBudget, 'namespace' | 'name'>, nowMs: number): AppLock | undefined {
    const held = this.#byNamespace.get(namespace)
    if (held === undefined || !held.budgets.has(name)) return undefined
    if (held.judged === undefined || Math.abs(nowMs - held.judged.atMs) >= judgedForMs) {
      held.judged = { atMs: nowMs, locks: appLocksInForce([...held.budgets.values()], this.#policy, nowMs) }
    }
    return held.judged.locks.get(name)
  }
}
