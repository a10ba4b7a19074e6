import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import { longhornNamespace, longhornNodes, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  buildInstanceManagerBudget,
  decideCsiBudgets,
  hasOwnLabel,
  isInstanceManagerBudget,
  type SelectingDeployment,
  type Sha512Hex,
} from '../domain/budget-object.ts'
import type { EvictionAnswer, LonghornDecision } from '../domain/decision.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import type { LonghornSnapshot } from '../domain/snapshot.ts'
import type { LonghornViews } from '../observe/observe.ts'

export interface LonghornApplyPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly views: Pick<LonghornViews, 'budgets' | 'replicas' | 'nodes'>
  readonly sha512Hex: Sha512Hex
  applyBudgets(writes: readonly BudgetWrite[], signal: AbortSignal): Promise<string | undefined>
}

/** What was decided, and what it was decided from. */
export interface LonghornLook {
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
export function planLonghornBudgets(look: LonghornLook, sha512Hex: Sha512Hex): LonghornBudgetPlan {
  const { objects, snapshot, decision } = look
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
 */
export function planCsiBudgets(
  { objects, snapshot }: Pick<LonghornLook, 'objects' | 'snapshot'>,
  deployments: readonly SelectingDeployment[],
): Pick<LonghornBudgetPlan, 'create' | 'remove'> {
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

/** Writes budgets in order, and waits until the view has them: the next look must not plan them again. */
export async function applyLonghornBudgets(
  ports: Pick<LonghornApplyPorts, 'applyBudgets' | 'views'>,
  writes: readonly BudgetWrite[],
  signal: AbortSignal,
): Promise<void> {
  const version = await ports.applyBudgets(writes, signal)
  if (version !== undefined) await ports.views.budgets.whenSeen(version, signal)
}

export interface AppliedFlags {
  readonly changed: readonly EvictionAnswer[]
  /** One that is refused stops no other. */
  readonly failures: readonly unknown[]
  /** The refused flags of replicas, by volume. */
  readonly refused: ReadonlyMap<string, unknown>
}

/**
 * Raises and lowers the flags of replicas, then those of nodes.
 *
 * Guarantees: a replica that changed since it was seen is refused with 409, and judged again.
 */
export async function applyEvictionFlags(
  ports: Pick<LonghornApplyPorts, 'api' | 'views'>,
  { objects, decision }: LonghornLook,
  signal: AbortSignal,
): Promise<AppliedFlags> {
  const { api, views } = ports
  const seen = new Map(objects.replicas.map((replica) => [replica.metadata.name, replica]))
  const changed: EvictionAnswer[] = []
  const failures: unknown[] = []
  const refused = new Map<string, unknown>()
  let replicaVersion: string | undefined
  let nodeVersion: string | undefined
  for (const answer of decision.evictions.filter(({ changes }) => changes)) {
    const before = failures.length
    await collectFailure(failures, async () => {
      const { resourceVersion } = seen.get(answer.replica)?.metadata ?? {}
      const written = await api.patch(
        longhornReplicas,
        { namespace: longhornNamespace, name: answer.replica },
        {
          type: 'merge',
          body: {
            ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
            spec: { evictionRequested: answer.isRequested },
          },
        },
        { signal },
      )
      replicaVersion = written.metadata.resourceVersion
      changed.push(answer)
    })
    if (failures.length > before) refused.set(seen.get(answer.replica)?.spec?.volumeName ?? '', failures[before])
  }
  for (const { node, isAutoEvicting } of decision.autoEvicting) {
    await collectFailure(failures, async () => {
      const written = await api.patch(
        longhornNodes,
        { namespace: longhornNamespace, name: node },
        { type: 'merge', body: { status: { autoEvicting: isAutoEvicting } } },
        { signal, subresource: 'status' },
      )
      nodeVersion = written.metadata.resourceVersion
    })
  }
  if (replicaVersion !== undefined) await views.replicas.whenSeen(replicaVersion, signal)
  if (nodeVersion !== undefined) await views.nodes.whenSeen(nodeVersion, signal)
  return { changed, failures, refused }
}

/** What is gone needs no flag. */
export async function collectFailure(failures: unknown[], write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!hasReason(error, 'NotFound')) failures.push(error)
  }
}
