import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { EvictionBudget } from '../ledger/rules/decide-eviction.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import type { BudgetReference } from '../shared/object-references.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { AppLockBook } from './app-lock-book.ts'
import { BudgetIndex } from './budget-index.ts'
import type { GuardedBudget, GuardedPod } from './guarded-objects.ts'
import type { ReadObject } from './object-reader.ts'

export interface CoveringBudgetsOptions {
  readonly view: Pick<WatchView<GuardedBudget>, 'subscribe' | 'list' | 'ageMs'>
  readonly clock: Pick<Clock, 'now'>
  readonly policy: AppLockPolicy
  /** A view that heard nothing for longer is not believed. */
  readonly trustedMs: number
  /** Asks the API server itself. */
  readonly read: ReadObject<GuardedBudget>
}

export interface CoveringBudget extends EvictionBudget {
  /** As far as our copy of it goes. */
  readonly mayHoldStorage: boolean
}

/** The budgets that cover a pod, as far as they are known, with the locks of their owners. */
export interface CoveringBudgets {
  /** `ledger`: where it is recorded since when they have been locked. While that is not known, what was known before counts. */
  covering(pod: Pick<GuardedPod, 'namespace' | 'labels'>, ledger: Observed<Ledger>): Observed<readonly CoveringBudget[]>
  /** Reads these again: our copy may be from before an owner locked one. Returns why that cannot be known. */
  renew(budgets: readonly BudgetReference[]): Promise<string | undefined>
  stop(): void
}

/** Follows a view of all budgets. */
export function followBudgets(options: CoveringBudgetsOptions): CoveringBudgets {
  const { view, clock, policy, trustedMs, read } = options
  const index = new BudgetIndex()
  const locks = new AppLockBook(policy)
  const put = (budget: GuardedBudget) => {
    index.put(budget)
    locks.put(budget)
  }
  const stop = view.subscribe((change) => {
    if (change.type === 'removed') {
      index.remove(change.previous)
      locks.remove(change.previous)
    } else if (change.type !== 'resynced') put(change.value)
  })
  for (const budget of view.list()) put(budget)
  return {
    covering({ namespace, labels }, ledger) {
      locks.learn(ledger)
      if (view.ageMs() > trustedMs) return unknown('the budgets of the cluster are not known at the moment')
      const found = index.covering(namespace, labels)
      if (!found.known) return found
      const nowMs = clock.now()
      return known(
        found.value.map((budget) => ({
          ...referenceTo(budget),
          isExchanged: budget.isExchanged,
          mayHoldStorage: budget.mayHoldStorage,
          appLock: locks.lockOf(budget, nowMs),
        })),
      )
    },
    async renew(budgets) {
      const renewed = await Promise.all(budgets.map(read))
      for (const budget of renewed) if (budget.known && budget.value !== undefined) put(budget.value)
      const unread = renewed.find((budget) => !budget.known)
      return unread?.known === false ? unread.why : undefined
    },
    stop,
  }
}

function referenceTo({ namespace, name, uid }: GuardedBudget) {
  return { namespace, name, uid }
}
