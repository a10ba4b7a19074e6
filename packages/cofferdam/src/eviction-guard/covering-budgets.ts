import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { EvictionBudget } from '../ledger/rules/decide-eviction.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { AppLockBook } from './app-lock-book.ts'
import { BudgetIndex } from './budget-index.ts'
import type { GuardedBudget, GuardedPod } from './guarded-objects.ts'

export interface CoveringBudgetsOptions {
  readonly view: Pick<WatchView<GuardedBudget>, 'subscribe' | 'list' | 'ageMs'>
  readonly clock: Pick<Clock, 'now'>
  readonly policy: AppLockPolicy
  /** A view that heard nothing for longer is not believed. */
  readonly trustedMs: number
}

export interface CoveringBudget extends EvictionBudget {
  /** As far as our copy of it goes. */
  readonly mayHoldStorage: boolean
}

/** The budgets that cover a pod, as far as they are known, with the locks of their owners. */
export interface CoveringBudgets {
  /** `ledger`: where it is recorded since when they have been locked. While that is not known, what was known before counts. */
  covering(pod: Pick<GuardedPod, 'namespace' | 'labels'>, ledger: Observed<Ledger>): Observed<readonly CoveringBudget[]>
  stop(): void
}

/** Follows a view of all budgets. */
export function followBudgets({ view, clock, policy, trustedMs }: CoveringBudgetsOptions): CoveringBudgets {
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
    stop,
  }
}

function referenceTo({ namespace, name, uid }: GuardedBudget) {
  return { namespace, name, uid }
}
