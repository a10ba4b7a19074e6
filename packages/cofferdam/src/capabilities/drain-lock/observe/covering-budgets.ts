import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { groupedBy } from '../../../shared/grouped-by.ts'
import type { BudgetReference } from '../../../shared/object-references.ts'
import type { HoldableBudget, HostedPod } from './objects.ts'

/**
 * The budgets of its namespace that cover the pod, in the order of their names.
 *
 * Whatever number of budgets there is, only those are compared that demand a label which the pod has.
 */
export function coveringBudgets(pod: HostedPod, budgets: readonly HoldableBudget[]): readonly HoldableBudget[] {
  if (budgets.length === 0) return budgets
  const { demanding, others } = demandsOf(budgets)
  const found: HoldableBudget[] = []
  addCovering(others, pod, found)
  for (const key in pod.labels) {
    const those = demanding.get(key)?.get(pod.labels[key] as string)
    if (those !== undefined) addCovering(those, pod, found)
  }
  return found.length > 1 ? found.sort(byName) : found
}

function addCovering(
  budgets: readonly HoldableBudget[],
  { namespace, labels }: HostedPod,
  found: HoldableBudget[],
): void {
  for (const budget of budgets) {
    const { selector } = budget
    if (selector !== undefined && budget.namespace === namespace && isSelected(selector, labels)) found.push(budget)
  }
}

export function byName(a: BudgetReference, b: BudgetReference): number {
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1
  return a.name < b.name ? -1 : 1
}

/** Budgets by the key and the value of the first label that they demand, and those that demand none by its value. */
interface Demands {
  readonly demanding: ReadonlyMap<string, ReadonlyMap<string, readonly HoldableBudget[]>>
  readonly others: readonly HoldableBudget[]
}

/** One list of budgets is asked about many pods. */
const byBudgets = new WeakMap<object, Demands>()

function demandsOf(budgets: readonly HoldableBudget[]): Demands {
  const before = byBudgets.get(budgets)
  if (before !== undefined) return before
  const demanding = new Map<string, HoldableBudget[]>()
  const others: HoldableBudget[] = []
  for (const budget of budgets) {
    const key = firstLabelOf(budget)
    const group = key === undefined ? others : demanding.get(key)
    if (group === undefined) demanding.set(key as string, [budget])
    else group.push(budget)
  }
  const demands: Demands = {
    others,
    demanding: new Map(
      [...demanding].map(([key, those]) => [
        key,
        groupedBy(those, ({ selector }) => selector?.matchLabels?.[key] as string),
      ]),
    ),
  }
  byBudgets.set(budgets, demands)
  return demands
}

function firstLabelOf({ selector }: HoldableBudget): string | undefined {
  for (const key in selector?.matchLabels) return key
  return undefined
}
