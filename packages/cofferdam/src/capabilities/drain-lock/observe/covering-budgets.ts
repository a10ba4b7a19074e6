import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { groupedBy } from '../../../shared/grouped-by.ts'
import type { BudgetReference } from '../../../shared/object-references.ts'
import type { HoldableBudget, HostedPod } from './objects.ts'

/**
 * The budgets of its namespace that cover the pod, in the order of their names.
 *
 * Whatever number of budgets there is, only those are compared that demand a label which the pod has.
 */
export function coveringBudgets(
  { namespace, labels }: HostedPod,
  budgets: readonly HoldableBudget[],
): readonly HoldableBudget[] {
  if (budgets.length === 0) return none
  const { demanding, others } = demandsOf(budgets)
  let found: HoldableBudget[] | undefined
  const take = (budget: HoldableBudget) => {
    const { selector } = budget
    if (selector === undefined || budget.namespace !== namespace || !isSelected(selector, labels)) return
    if (found === undefined) found = [budget]
    else found.push(budget)
  }
  for (const budget of others) take(budget)
  for (const key in labels) {
    const those = demanding.get(key)?.get(labels[key] as string)
    if (those !== undefined) for (const budget of those) take(budget)
  }
  if (found === undefined) return none
  return found.length === 1 ? found : found.sort(byName)
}

const none: readonly HoldableBudget[] = []

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
