import { type Observed, unknown } from '../domain/observed.ts'
import type { WatchView } from '../kube/watch-view.ts'
import { BudgetIndex } from './budget-index.ts'
import type { GuardedBudget, GuardedPod } from './guarded-objects.ts'

/** The budgets that cover a pod, as far as they are known. */
export interface CoveringBudgets {
  covering(pod: Pick<GuardedPod, 'namespace' | 'labels'>): Observed<readonly GuardedBudget[]>
  stop(): void
}

/** Follows a view of all budgets. What the view has not heard for longer than `trustedMs` is not believed. */
export function followBudgets(
  view: Pick<WatchView<GuardedBudget>, 'subscribe' | 'list' | 'ageMs'>,
  { trustedMs }: { readonly trustedMs: number },
): CoveringBudgets {
  const index = new BudgetIndex()
  const stop = view.subscribe((change) => {
    if (change.type === 'removed') index.remove(change.previous)
    else if (change.type !== 'resynced') index.put(change.value)
  })
  for (const budget of view.list()) index.put(budget)
  return {
    covering({ namespace, labels }) {
      if (view.ageMs() > trustedMs) return unknown('the budgets of the cluster are not known at the moment')
      return index.covering(namespace, labels)
    },
    stop,
  }
}
