import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import {
  buildInstanceManagerBudget,
  decideCsiBudgets,
  hasOwnLabel,
  isInstanceManagerBudget,
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
  readonly create: readonly BudgetWrite[]
  readonly remove: readonly BudgetWrite[]
  /** Names that are taken by budgets of others. While there are any nothing may be removed: it could rest on these. */
  readonly taken: readonly string[]
}

/** Which budgets to make and to delete. Only budgets of instance managers are ever deleted, whatever their names are. */
export function planLonghornBudgets(observed: ObservedLonghorn, sha512Hex: Sha512Hex): LonghornBudgetPlan {
  const { objects, snapshot, decision } = observed
  const byName = new Map(objects.budgets.map((budget) => [budget.metadata.name, budget]))
  const managers = new Map(snapshot.instanceManagers.map((manager) => [manager.name, manager]))
  const create: BudgetWrite[] = []
  const taken: string[] = []
  for (const { instanceManager, wanted } of decision.budgets) {
    const manager = managers.get(instanceManager)
    if (wanted !== 'present' || manager === undefined || snapshot.budgets.has(instanceManager)) continue
    if (byName.has(instanceManager)) taken.push(instanceManager)
    else create.push({ verb: 'create', budget: buildInstanceManagerBudget(manager, sha512Hex) })
  }
  const unwanted = decision.budgets.filter(({ wanted }) => wanted === 'absent').map((answer) => answer.instanceManager)
  const remove = [...unwanted, ...decision.orphanBudgets].flatMap((name): BudgetWrite[] => {
    const seen: PodDisruptionBudget | undefined = byName.get(name)
    return seen !== undefined && isInstanceManagerBudget(seen) ? [{ verb: 'delete', seen }] : []
  })
  return { create, remove, taken }
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
      const seen = byName.get(name)
      return seen !== undefined && hasOwnLabel(seen) ? [{ verb: 'delete', seen }] : []
    }),
  }
}
