import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { readStorage } from '../../capabilities/ceph-drain/observe/read-storage.ts'
import { readLonghorn } from '../../capabilities/longhorn-drain/observe/read-longhorn.ts'
import type { Shown } from '../../capabilities/shown.ts'
import { type ClusterSummary, summarizeCluster } from '../../explain/summarize-cluster.ts'
import { observeHolds } from '../../observe/observe-holds.ts'
import { readShown, type ShownPorts } from '../../observe/read-shown.ts'
import { openReader, type Question } from '../../observe/reader.ts'
import type { OperatorStatus } from '../../shared/operator-status.ts'
import type { StorageView } from '../../shared/storage-view.ts'
import { isWithin } from '../get/locks-observe.ts'
import { notKubernetes } from '../read-server-version.ts'
import { isExpectedWarning } from './expected-warning.ts'
import { explainHeadline, type Headline } from './explain-headline.ts'
import { observeOrphans } from './observe-orphans.ts'

/** Capabilities add the fields that they show. */
export interface Status extends ClusterSummary {
  readonly observedAt: string
  readonly server: string
  /** The worst there is, and its cause. */
  readonly headline: Headline
  readonly operator: OperatorStatus
  /** Kinds of which nothing may be read; left out where there is none. Their counts are not known. */
  readonly unread?: readonly string[]
  /** Storage of each Ceph cluster, as ceph-drain shows it. */
  readonly storage?: readonly StorageView[]
  /** What could not be read; empty when everything was seen. */
  readonly notSeen: readonly string[]
}

export interface StatusQuestion extends Question {
  readonly server: string
  /** Only what is in this namespace: pods, budgets, warnings. */
  readonly namespace: string | undefined
  /** What capabilities show. */
  readonly list: readonly Shown<ShownPorts>[]
}

export async function observeStatus(question: StatusQuestion): Promise<Status> {
  const { api, server, namespace, signal } = question
  const read = await openReader(question)
  const { now, notSeen } = read
  const unread: string[] = []
  const all = async <T extends KubeObject>(type: ResourceType<T>, fieldSelector?: string): Promise<readonly T[]> => {
    const scope = type.namespaced && namespace !== undefined ? { namespace } : {}
    const query = { ...scope, ...(fieldSelector === undefined ? {} : { fieldSelector }), signal }
    const refused: string[] = []
    const found = await ifAllowed(type.plural, refused, () => api.list(type, query))
    if (refused.length > 0) unread.push(type.plural)
    else if (found === undefined && !type.namespaced) throw notKubernetes(server, `it serves no ${type.plural}`)
    notSeen.push(...refused)
    return found?.items ?? []
  }
  const [nodeList, podList, budgetList, warnings, operator] = await Promise.all([
    all(nodes),
    all(pods),
    all(podDisruptionBudgets),
    all(events, 'type=Warning'),
    read.operator(),
  ])
  const seen = { nodes: nodeList, pods: podList }
  const storage = await readStorage(read, budgetList)
  const holds = await observeHolds(read, budgetList, notSeen)
  const longhorn = await readLonghorn(read)
  const summary = summarizeCluster({
    holds,
    orphanFacts: await observeOrphans(read, holds),
    nodes: nodeList,
    pods: podList,
    budgets: budgetList,
    storage,
    ...(longhorn && { longhorn }),
    events: unread.includes('pods') ? warnings : warnings.filter((event) => !isExpectedWarning(event, seen)),
    now,
  })
  const shown = await readShown({ ...read, storage, ledger: holds.ledger }, question.list)
  const locks = summary.locks.filter((lock) => isWithin(lock, namespace))
  return {
    observedAt: now,
    server,
    headline: explainHeadline({ ...summary, locks, operator, unread }),
    operator,
    ...(unread.length === 0 ? {} : { unread }),
    ...summary,
    ...shown,
    locks,
    notSeen: [...new Set(notSeen)],
  }
}
