import type { KubeObject } from '../api/kube-object.ts'
import type { ResourceType } from '../api/resource-type.ts'
import { events, nodes, podDisruptionBudgets, pods } from '../api/resources.ts'
import { type ClusterSummary, summarizeCluster } from '../domain/explain/summarize-cluster.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import { ifAllowed } from './if-allowed.ts'
import { type OperatorStatus, observeOperator } from './observe-operator.ts'
import { observeStorage } from './observe-storage.ts'

export interface Status extends ClusterSummary {
  readonly observedAt: string
  readonly server: string
  readonly operator: OperatorStatus
  /** What could not be read; empty when everything was seen. */
  readonly notSeen: readonly string[]
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
  const seen = await observeStorage({ api, budgets: budgetList, operator: async () => operator, signal })
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
