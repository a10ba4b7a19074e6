import { isSelected, type LabelSelector, type Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import type { GuardedBudget } from './guarded-objects.ts'

/** More selectors than this are not tried for one pod. */
const mostTried = 500
/** A requirement with more values is not worth an index entry for each. */
const mostValues = 8

/**
 * Finds the budgets that cover a pod without trying every budget of its namespace.
 *
 * A budget is filed under a label that its pods must carry, the one that fewest others are filed under; those that ask
 * for no label at all are few, and tried each time.
 */
export class BudgetIndex {
  readonly #byKey = new Map<string, { readonly budget: GuardedBudget; readonly drawers: readonly string[] }>()
  readonly #drawers = new Map<string, Map<string, GuardedBudget>>()

  get size(): number {
    return this.#byKey.size
  }

  put(budget: GuardedBudget): void {
    this.remove(budget)
    const drawers = this.#drawersFor(budget)
    this.#byKey.set(keyOf(budget), { budget, drawers })
    for (const drawer of drawers) {
      const filed = this.#drawers.get(drawer)
      if (filed === undefined) this.#drawers.set(drawer, new Map([[budget.name, budget]]))
      else filed.set(budget.name, budget)
    }
  }

  remove(budget: Pick<GuardedBudget, 'namespace' | 'name'>): void {
    const key = keyOf(budget)
    const held = this.#byKey.get(key)
    if (held === undefined) return
    this.#byKey.delete(key)
    for (const drawer of held.drawers) {
      const filed = this.#drawers.get(drawer)
      filed?.delete(budget.name)
      if (filed?.size === 0) this.#drawers.delete(drawer)
    }
  }

  /** Guarantees: the work is bounded; when it would be more, the answer is that it is not known. */
  covering(namespace: string, labels: Labels): Observed<readonly GuardedBudget[]> {
    const found: GuardedBudget[] = []
    let tried = 0
    for (const drawer of drawersOf(namespace, labels)) {
      const filed = this.#drawers.get(drawer)
      if (filed === undefined) continue
      for (const budget of filed.values()) {
        tried += 1
        if (tried > mostTried) return unknown(`too many budgets of namespace ${namespace} ask for the same labels`)
        if (budget.selector !== undefined && isSelected(budget.selector, labels)) found.push(budget)
      }
    }
    return known(found)
  }

  #drawersFor({ namespace, selector }: GuardedBudget): readonly string[] {
    if (selector === undefined) return []
    const load = (drawers: readonly string[]) =>
      drawers.reduce((sum, each) => sum + (this.#drawers.get(each)?.size ?? 0), 0)
    let best: { readonly drawers: readonly string[]; readonly load: number } | undefined
    for (const tokens of requiredTokens(selector)) {
      const drawers = tokens.map((token) => drawerName(namespace, token))
      const weight = load(drawers)
      if (best === undefined || weight < best.load) best = { drawers, load: weight }
    }
    return best?.drawers ?? [drawerName(namespace, '')]
  }
}

/** Each item is a set of labels of which every covered pod carries at least one. */
function requiredTokens({ matchLabels = {}, matchExpressions = [] }: LabelSelector): (readonly string[])[] {
  const pairs = Object.entries(matchLabels).map(([key, value]) => [`${key}=${value}`])
  const sets = matchExpressions.flatMap(({ key, operator, values = [] }): (readonly string[])[] => {
    if (operator === 'Exists') return [[key]]
    if (operator !== 'In' || values.length > mostValues) return []
    return [[...new Set(values)].map((value) => `${key}=${value}`)]
  })
  return [...pairs, ...sets]
}

function* drawersOf(namespace: string, labels: Labels): Iterable<string> {
  yield drawerName(namespace, '')
  for (const key in labels) {
    yield drawerName(namespace, key)
    yield drawerName(namespace, `${key}=${labels[key]}`)
  }
}

function drawerName(namespace: string, token: string): string {
  return `${namespace}/${token}`
}

function keyOf({ namespace, name }: Pick<GuardedBudget, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}
