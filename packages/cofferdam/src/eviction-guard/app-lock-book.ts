import type { AppLock, AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { AppLockRecord } from '../ledger/rules/app-lock-record.ts'
import { appLocksInForce } from '../ledger/rules/app-locks.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import { appLockAnnotation } from '../shared/app-lock-annotation.ts'
import type { Observed } from '../shared/observed.ts'
import type { GuardedBudget } from './guarded-objects.ts'

/** Judging reads every lock of a namespace, and requests may come by the thousand. */
const judgedForMs = 1_000

interface NamespaceLocks {
  readonly budgets: Map<string, GuardedBudget>
  judged: JudgedLocks | undefined
}

interface JudgedLocks {
  readonly atMs: number
  readonly records: readonly AppLockRecord[]
  readonly locks: ReadonlyMap<string, AppLock>
}

/** The budgets of each namespace that their owners have locked, or tried to. */
export class AppLockBook {
  readonly #policy: AppLockPolicy
  readonly #byNamespace = new Map<string, NamespaceLocks>()
  /** As the ledger had them when it was last read. */
  #records: readonly AppLockRecord[] = []

  constructor(policy: AppLockPolicy) {
    this.#policy = policy
  }

  put(budget: GuardedBudget): void {
    const { namespace, name, annotations } = budget
    if (annotations[appLockAnnotation] === undefined) {
      this.remove(budget)
      return
    }
    const held = this.#byNamespace.get(namespace) ?? { budgets: new Map<string, GuardedBudget>(), judged: undefined }
    held.budgets.set(name, budget)
    held.judged = undefined
    this.#byNamespace.set(namespace, held)
  }

  remove({ namespace, name }: Pick<GuardedBudget, 'namespace' | 'name'>): void {
    const held = this.#byNamespace.get(namespace)
    if (held === undefined || !held.budgets.delete(name)) return
    held.judged = undefined
    if (held.budgets.size === 0) this.#byNamespace.delete(namespace)
  }

  /** What cannot be read leaves what was known before. */
  learn(ledger: Observed<Ledger>): void {
    if (ledger.known) this.#records = ledger.value.appLocks
  }

  /** The lock of a budget that counts now: quota and limits are those of its whole namespace. */
  lockOf({ namespace, name }: Pick<GuardedBudget, 'namespace' | 'name'>, nowMs: number): AppLock | undefined {
    const held = this.#byNamespace.get(namespace)
    if (held === undefined || !held.budgets.has(name)) return undefined
    const records = this.#records
    if (held.judged?.records !== records || Math.abs(nowMs - held.judged.atMs) >= judgedForMs) {
      const budgets = [...held.budgets.values()]
      const locks = appLocksInForce({ namespace, budgets, records, policy: this.#policy, nowMs })
      held.judged = { atMs: nowMs, records, locks }
    }
    return held.judged.locks.get(name)
  }

  /** The same of a budget as the API server has just given it, which may be newer than what stands here. */
  lockAsRead(budget: GuardedBudget, nowMs: number): AppLock | undefined {
    const { namespace, name, annotations } = budget
    if (annotations[appLockAnnotation] === undefined) return undefined
    const others = [...(this.#byNamespace.get(namespace)?.budgets.values() ?? [])].filter((each) => each.name !== name)
    const budgets = [...others, budget]
    return appLocksInForce({ namespace, budgets, records: this.#records, policy: this.#policy, nowMs }).get(name)
  }
}
