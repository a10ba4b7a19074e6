import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { observeStorage } from '../capabilities/ceph-drain/observe/from-listing.ts'
import { observeLonghornDrains } from '../capabilities/longhorn-drain/observe/from-listing.ts'
import { type BudgetVerdict, tellVerdict } from '../explain/budget-verdict.ts'
import { explainBudget } from '../explain/explain-budget.ts'
import { groupedBy } from '../shared/grouped-by.ts'
import { observeHolds } from './observe-holds.ts'
import { observeOperator } from './observe-operator.ts'

export interface VerdictQuestion {
  readonly api: KubeApi
  readonly clock: Clock
  /** Where the operator's lease is. */
  readonly leaseNamespace: string
  readonly signal: AbortSignal
}

/** What every budget says to the next eviction, read and judged as `explain` does. By `namespace/name`. */
export async function observeBudgetVerdicts(question: VerdictQuestion): Promise<ReadonlyMap<string, BudgetVerdict>> {
  const { api, clock, signal } = question
  const notSeen: string[] = []
  const operator = (unseen: string[]) => observeOperator({ ...question, now: timestamp(clock) }, unseen)
  const [{ items: budgets }, { items: podList }, longhorn] = await Promise.all([
    api.list(podDisruptionBudgets, { signal }),
    api.list(pods, { signal }),
    observeLonghornDrains({ api, clock, operator, signal }, notSeen),
  ])
  const [{ storage }, holds] = await Promise.all([
    observeStorage({ api, budgets, operator, signal }),
    observeHolds({ api, clock, signal }, budgets, notSeen),
  ])
  const podsByNamespace = groupedBy(podList, ({ metadata }) => metadata.namespace ?? '')
  return new Map(
    budgets.map((budget) => {
      const around = podsByNamespace.get(budget.metadata.namespace ?? '') ?? []
      const seen = { budget, pods: around, storage, holds, ...(longhorn && { longhorn }) }
      return [keyText(keyOf(budget)), tellVerdict(explainBudget(seen))]
    }),
  )
}
