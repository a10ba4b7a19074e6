import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { readStorage } from '../capabilities/ceph-drain/observe/read-storage.ts'
import { readLonghorn } from '../capabilities/longhorn-drain/observe/read-longhorn.ts'
import { type BudgetVerdict, tellVerdict } from '../explain/budget-verdict.ts'
import { explainBudget } from '../explain/explain-budget.ts'
import { groupedBy } from '../shared/grouped-by.ts'
import { observeHolds } from './observe-holds.ts'
import { openReader, type Question } from './reader.ts'

/** What every budget says to the next eviction, read and judged as `explain` does. By `namespace/name`. */
export async function observeBudgetVerdicts(question: Question): Promise<ReadonlyMap<string, BudgetVerdict>> {
  const { api, signal } = question
  const read = await openReader(question)
  const [{ items: budgets }, { items: podList }, longhorn] = await Promise.all([
    api.list(podDisruptionBudgets, { signal }),
    api.list(pods, { signal }),
    readLonghorn(read),
  ])
  const [storage, holds] = await Promise.all([readStorage(read, budgets), observeHolds(read, budgets, read.notSeen)])
  const podsByNamespace = groupedBy(podList, ({ metadata }) => metadata.namespace ?? '')
  return new Map(
    budgets.map((budget) => {
      const around = podsByNamespace.get(budget.metadata.namespace ?? '') ?? []
      const seen = { budget, pods: around, storage, holds, ...(longhorn && { longhorn }) }
      return [keyText(keyOf(budget)), tellVerdict(explainBudget(seen))]
    }),
  )
}
