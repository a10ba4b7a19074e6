import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { observeStorage } from '../../capabilities/ceph-drain/observe/from-listing.ts'
import type { KeyFacts } from '../../capabilities/drain-lock/domain/orphans.ts'
import { observeKeys } from '../../capabilities/drain-lock/observe/keys.ts'
import type { HoldAnswer, HoldView } from '../../capabilities/drain-lock/view/hold-view.ts'
import { observeFencing } from '../../capabilities/fencing/observe/from-listing.ts'
import { type FencingSummary, summarizeFencing } from '../../capabilities/fencing/view/summarize-fencing.ts'
import { observeLonghornDrains } from '../../capabilities/longhorn-drain/observe/from-listing.ts'
import { observeUpdates } from '../../capabilities/osd-update/observe/from-listing.ts'
import { summarizeUpdate, type UpdateSummary } from '../../capabilities/osd-update/view/summarize-update.ts'
import { type ClusterSummary, summarizeCluster } from '../../explain/summarize-cluster.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import { unknown } from '../../shared/observed.ts'
import type { OperatorStatus } from '../../shared/operator-status.ts'

export interface Status extends ClusterSummary {
  readonly observedAt: string
  readonly server: string
  readonly operator: OperatorStatus
  /** Left out where there are no Machines, or no Ceph cluster. */
  readonly fencing?: FencingSummary
  /** Of each Ceph cluster; left out where there is none. */
  readonly osdUpdates?: readonly UpdateSummary[]
  /** What could not be read; empty when everything was seen. */
  readonly notSeen: readonly string[]
}

export interface StatusQuestion {
  readonly api: KubeApi
  readonly clock: Clock
  readonly server: string
  readonly now: string
  /** Only what is in this namespace: pods, budgets, warnings. */
  readonly namespace: string | undefined
  readonly leaseNamespace: string
  readonly signal: AbortSignal
}

export async function observeStatus(question: StatusQuestion): Promise<Status> {
  const { api, clock, server, now, namespace, signal } = question
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
  const holds = await observeHolds(question, budgetList, notSeen)
  const unseen: string[] = []
  const longhorn = await observeLonghornDrains({ api, clock, operator: async () => operator, signal }, unseen)
  const orphanFacts = await observeOrphans(question, holds, notSeen)
  const summary = summarizeCluster({
    holds,
    orphanFacts,
    nodes: nodeList,
    pods: podList,
    budgets: budgetList,
    storage: seen.storage,
    ...(longhorn && { longhorn }),
    events: warnings,
    now,
  })
  const asked = { ...question, operator: async () => operator, storage: seen.storage, ledger: holds.ledger }
  const view = await observeFencing(asked, notSeen)
  const fencing = view && summarizeFencing(view)
  const osdUpdates = (await observeUpdates({ api, clock, operator: async () => operator, signal }, unseen)).map(
    summarizeUpdate,
  )
  notSeen.push(...unseen)
  const isAsked = ({ key }: HoldAnswer) => namespace === undefined || key.startsWith(`pdb/${namespace}/`)
  const locks = summary.locks.filter(isAsked)
  return {
    observedAt: now,
    server,
    operator,
    ...summary,
    ...(fencing && { fencing }),
    ...(osdUpdates.length > 0 && { osdUpdates }),
    locks,
    notSeen: [...new Set([...notSeen, ...seen.notSeen])],
  }
}

/** What is behind the keys that vanished holders left; asked only where there are any. */
async function observeOrphans(
  { api, signal }: StatusQuestion,
  { ledger }: HoldView,
  notSeen: string[],
): Promise<ReadonlyMap<string, KeyFacts>> {
  const orphans = ledger.known ? ledger.value.entries.filter(({ state }) => state === 'Orphaned') : []
  if (orphans.length === 0) return new Map()
  const observeStorage = async (about: { readonly node: string } | { readonly key: string }) =>
    'key' in about ? [{ key: about.key, uid: '', failureDomain: '', mayGo: unasked, isClean: unasked }] : []
  return (
    (await ifAllowed('what is behind orphaned keys', notSeen, () =>
      observeKeys({ api, observeStorage }, orphans, signal),
    )) ?? new Map<string, KeyFacts>()
  )
}

const unasked = unknown('only the operator asks')
