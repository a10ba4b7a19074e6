import type { KubeObject } from '../api/kube-object.ts'
import type { ResourceType } from '../api/resource-type.ts'
import { events, leases, nodes, podDisruptionBudgets, pods } from '../api/resources.ts'
import { operatorAccount } from '../deploy/operator-manifests.ts'
import { type ClusterSummary, summarizeCluster } from '../domain/explain/summarize-cluster.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import { ifAllowed, observeStorage } from './observe-storage.ts'

export interface Status extends ClusterSummary {
  readonly observedAt: string
  readonly server: string
  readonly operator: OperatorStatus
  /** What could not be read; empty when everything was seen. */
  readonly notSeen: readonly string[]
}

export interface OperatorStatus {
  /** Whether one leads, by its lease; undefined where the lease may not be read. */
  readonly isRunning?: boolean
  /** Who holds the lease, or held it last. */
  readonly leader?: string
  readonly since?: string
  readonly renewedAt?: string
}

export interface StatusQuestion {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly server: string
  readonly now: string
  /** Only what is in this namespace: pods, budgets, warnings. */
  readonly namespace: string | undefined
  readonly leaseNamespace: string
  readonly signal: AbortSignal
}

export async function observeStatus(question: StatusQuestion): Promise<Status> {
  const { api, server, now, namespace, signal } = question
  const notSeen: string[] = []
  const all = async <T extends KubeObject>(type: ResourceType<T>, fieldSelector?: string): Promise<readonly T[]> => {
    const scope = type.namespaced && namespace !== undefined ? { namespace } : {}
    const query = { ...scope, ...(fieldSelector === undefined ? {} : { fieldSelector }), signal }
    return (await ifAllowed(type.plural, notSeen, () => api.list(type, query)))?.items ?? []
  }
  const [nodeList, podList, budgetList, warnings, operator] = await Promise.all([
    all(nodes),
    all(pods),
    all(podDisruptionBudgets),
    all(events, 'type=Warning'),
    observeOperator(question, notSeen),
  ])
  const seen = await observeStorage(api, budgetList, signal)
  const summary = summarizeCluster({
    nodes: nodeList,
    pods: podList,
    budgets: budgetList,
    storage: seen.storage,
    events: warnings,
    now,
  })
  return { observedAt: now, server, operator, ...summary, notSeen: [...notSeen, ...seen.notSeen] }
}

async function observeOperator(
  { api, leaseNamespace, now, signal }: StatusQuestion,
  notSeen: string[],
): Promise<OperatorStatus> {
  const refusedBefore = notSeen.length
  const key = { namespace: leaseNamespace, name: operatorAccount.name }
  const lease = await ifAllowed(`lease ${key.namespace}/${key.name}`, notSeen, () => api.get(leases, key, { signal }))
  if (lease === undefined) return notSeen.length > refusedBefore ? {} : { isRunning: false }
  const { holderIdentity = '', leaseDurationSeconds = 0, renewTime, acquireTime } = lease.spec ?? {}
  const lapsesAt = Date.parse(renewTime ?? '') + leaseDurationSeconds * 1_000
  return {
    isRunning: holderIdentity !== '' && lapsesAt >= Date.parse(now),
    ...(holderIdentity === '' ? {} : { leader: holderIdentity }),
    ...(acquireTime ? { since: acquireTime } : {}),
    ...(renewTime ? { renewedAt: renewTime } : {}),
  }
}
