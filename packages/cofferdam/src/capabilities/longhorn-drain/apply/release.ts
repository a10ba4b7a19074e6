import { longhornNamespace, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { SelectingDeployment } from '../domain/budget-object.ts'
import { decideLonghornDrain } from '../domain/decide.ts'
import { parseLonghorn } from '../domain/parse-longhorn.ts'
import { observeLonghornAfresh } from '../observe/observe.ts'
import {
  applyLonghornBudgets,
  collectFailure,
  type LonghornApplyPorts,
  type LonghornLook,
  planCsiBudgets,
  planLonghornBudgets,
} from './apply.ts'

export interface ReleasePorts extends Omit<LonghornApplyPorts, 'api'> {
  readonly api: Pick<KubeApi, 'list' | 'delete'>
  readonly clock: Clock
}

/**
 * Deletes budgets that hold nothing any more, and copies beyond what a volume wants. Returns what was refused.
 *
 * Guarantees: what is deleted was decided on an answer of the server, not on what was last heard. A copy goes only if both
 * looks agree on it, one of a volume at a time, and only in the state it was seen in.
 */
export async function applyReleases(
  ports: ReleasePorts,
  seen: LonghornLook,
  { deployments, signal }: { readonly deployments: readonly SelectingDeployment[]; readonly signal: AbortSignal },
): Promise<readonly unknown[]> {
  const objects = await observeLonghornAfresh(ports.api, { ...seen.objects, nowMs: ports.clock.now() }, signal)
  const snapshot = parseLonghorn(objects)
  if (snapshot.settings.mode !== 'owner') return []
  const look = { objects, snapshot, decision: decideLonghornDrain(snapshot) }
  const plan = planLonghornBudgets(look, ports.sha512Hex)
  const failures: unknown[] = []
  await collectFailure(failures, () => applyLonghornBudgets(ports, plan.create, signal))
  const isOneMissing = plan.taken.length > 0 || failures.length > 0
  const spare = planCsiBudgets(look, deployments).remove
  for (const write of isOneMissing ? spare : [...plan.remove, ...spare]) {
    await collectFailure(failures, () => applyLonghornBudgets(ports, [write], signal))
  }
  return [...failures, ...(await removeSurplus(ports, { seen, look, signal }))]
}

async function removeSurplus(
  { api, views }: ReleasePorts,
  { seen, look, signal }: { readonly seen: LonghornLook; readonly look: LonghornLook; readonly signal: AbortSignal },
): Promise<readonly unknown[]> {
  const before = new Set(seen.decision.surplusReplicas)
  const chosen = new Map<string, string>()
  for (const name of look.decision.surplusReplicas) {
    const volume = look.snapshot.replicas.find((replica) => replica.name === name)?.volume
    if (volume !== undefined && before.has(name) && !chosen.has(volume)) chosen.set(volume, name)
  }
  const failures: unknown[] = []
  let version: string | undefined
  for (const name of chosen.values()) {
    const { uid, resourceVersion } =
      look.objects.replicas.find(({ metadata }) => metadata.name === name)?.metadata ?? {}
    if (uid === undefined || resourceVersion === undefined) continue
    await collectFailure(failures, async () => {
      const key = { namespace: longhornNamespace, name }
      const preconditions = { uid, resourceVersion }
      version = (await api.delete(longhornReplicas, key, { preconditions, signal })).metadata.resourceVersion
    })
  }
  if (version !== undefined) await views.replicas.whenSeen(version, signal)
  return failures
}
