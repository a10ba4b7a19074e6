import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { EvictionBudget } from '../ledger/rules/decide-eviction.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
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
  /** The same, each of them read again: our copy may be from before an owner locked it. A lock counts if either has it. */
  coveringAsRead(
    pod: Pick<GuardedPod, 'namespace' | 'labels'>,
    ledger: Observed<Ledger>,
  ): Promise<Observed<readonly CoveringBudget[]>>
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

  function inView({ namespace, labels }: Pick<GuardedPod, 'namespace' | 'labels'>, ledger: Observed<Ledger>) {
    locks.learn(ledger)
    if (view.ageMs() > trustedMs) return unknown('the budgets of the cluster are not known at the moment')
    return index.covering(namespace, labels)
  }

  return {
    covering(pod, ledger) {
      const found = inView(pod, ledger)
      if (!found.known) return found
      const nowMs = clock.now()
      return known(found.value.map((budget) => ({ ...viewOf(budget), appLock: locks.lockOf(budget, nowMs) })))
    },
    async coveringAsRead(pod, ledger) {
      const found = inView(pod, ledger)
      if (!found.known) return found
      const covering: CoveringBudget[] = []
      for (const answer of await Promise.all(found.value.map(read))) {
        if (!answer.known) return answer
        const budget = answer.value
        if (budget?.selector === undefined || !isSelected(budget.selector, pod.labels)) continue
        const nowMs = clock.now()
        covering.push({ ...viewOf(budget), appLock: locks.lockAsRead(budget, nowMs) ?? locks.lockOf(budget, nowMs) })
      }
      return known(covering)
    },
    stop,
  }
}

function viewOf({ namespace, name, uid, isExchanged, mayHoldStorage }: GuardedBudget) {
  return { namespace, name, uid, isExchanged, mayHoldStorage }
}
