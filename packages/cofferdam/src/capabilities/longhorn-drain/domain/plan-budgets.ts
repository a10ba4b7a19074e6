import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import {
  buildHoldBudget,
  decideCsiBudgets,
  hasOwnLabel,
  holdNameOf,
  isHoldBudget,
  type SelectingDeployment,
  type Sha512Hex,
} from './budget-object.ts'
import type { LonghornDecision } from './decision.ts'
import type { LonghornObjects } from './parse-longhorn.ts'
import type { LonghornSnapshot } from './snapshot.ts'

/** What was decided, and what it was decided from. */
export interface ObservedLonghorn {
  readonly objects: LonghornObjects
  readonly snapshot: LonghornSnapshot
  readonly decision: LonghornDecision
}

export interface LonghornBudgetPlan {
  /** What is missing, and what was changed so that it holds nothing. */
  readonly create: readonly BudgetWrite[]
  readonly remove: readonly BudgetWrite[]
  /** Names that are taken by budgets of others. While there are any nothing may be removed: it could rest on these. */
  readonly taken: readonly string[]
}

/**
 * Which budgets of ours to make and to delete. Longhorn's own are never touched.
 *
 * One is there where an instance manager has to be held and Longhorn's own budget does not do it, or does not do it for long
 * enough: a pod under two budgets is refused with an error, so there is no second one without need. It is there before a node is
 * cordoned, since Longhorn may let go at that moment.
 */
export function planHoldBudgets(observed: ObservedLonghorn, sha512Hex: Sha512Hex): LonghornBudgetPlan {
  const { objects, snapshot, decision } = observed
  const byName = new Map(objects.budgets.map((budget) => [budget.metadata.name, budget]))
  const managers = new Map(snapshot.instanceManagers.map((manager) => [manager.name, manager]))
  const kept = new Set<string>()
  const create: BudgetWrite[] = []
  const taken: string[] = []
  for (const { instanceManager, hold } of decision.budgets) {
    const manager = managers.get(instanceManager)
    const name = holdNameOf(instanceManager)
    const seen = byName.get(name)
    if (hold !== 'needless') kept.add(name)
    if (hold !== 'needed' || manager === undefined) continue
    const budget = buildHoldBudget(manager, sha512Hex, snapshot.namespace)
    if (seen === undefined) create.push({ verb: 'create', budget })
    else if (!hasOwnLabel(seen)) taken.push(name)
    else if (!isSameSpec(seen, budget)) create.push({ verb: 'replace', seen, budget })
  }
  for (const { object } of snapshot.unreadable) {
    const [kind, name] = object.split('/') as [string, string]
    if (kind === 'instancemanager') kept.add(holdNameOf(name))
  }
  const remove = objects.budgets.flatMap((seen): BudgetWrite[] => {
    return isHoldBudget(seen) && !kept.has(seen.metadata.name) ? [{ verb: 'delete', seen }] : []
  })
  return { create, remove, taken }
}

/** All of ours over instance managers, where holding them is not ours any more. */
export function planHoldWithdrawal(budgets: readonly PodDisruptionBudget[]): readonly BudgetWrite[] {
  return budgets.filter(isHoldBudget).map((seen) => ({ verb: 'delete', seen }))
}

function isSameSpec({ spec }: PodDisruptionBudget, wanted: PodDisruptionBudget): boolean {
  const labels = spec?.selector?.matchLabels ?? {}
  const asked = Object.entries(wanted.spec.selector?.matchLabels as Labels)
  return (
    spec?.minAvailable === wanted.spec.minAvailable &&
    (spec?.selector?.matchExpressions ?? []).length === 0 &&
    Object.keys(labels).length === asked.length &&
    asked.every(([key, value]) => labels[key] === value)
  )
}

/**
 * The budgets of the CSI sidecars. Only ours, by label, are ever deleted: Longhorn and its users make some of these names too.
 *
 * Fails closed: where the Deployments may not be read, what is there stays.
 */
export function planCsiBudgets(
  { objects, snapshot }: Pick<ObservedLonghorn, 'objects' | 'snapshot'>,
  deployments: readonly SelectingDeployment[] | undefined,
): Pick<LonghornBudgetPlan, 'create' | 'remove'> {
  if (deployments === undefined) return { create: [], remove: [] }
  const byName = new Map(objects.budgets.map((budget) => [budget.metadata.name, budget]))
  const { create, remove } = decideCsiBudgets({
    volumes: snapshot.volumes,
    isOneUnreadable: snapshot.unreadable.some(({ object }) => object.startsWith('volume/')),
    deployments,
    existing: new Set(byName.keys()),
  })
  return {
    create: create.map((budget) => ({ verb: 'create', budget })),
    remove: remove.flatMap((name): BudgetWrite[] => {
      const seen = byName.get(name) as PodDisruptionBudget
      return hasOwnLabel(seen) ? [{ verb: 'delete', seen }] : []
    }),
  }
}
