import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import { SharedWatches } from '@cofferdam/kubernetes/informers/shared-watches.ts'
import { createWatchCache, type WatchCacheOptions } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { parseDrainedNode } from '../capabilities/drain-detection/domain/snapshot.ts'
import { parseHoldableBudget, parseHostedPod, parseHostNode } from '../capabilities/drain-lock/observe/objects.ts'
import { parseGuardedDisruption, parseGuardedNode, parseGuardedPod } from '../eviction-guard/guarded-objects.ts'
import { parseLedger } from '../ledger/rules/parse-ledger.ts'
import { disruptionLedgers } from '../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { parsePodOnNode } from '../shared/pod-on-node.ts'
import { errorText, type Log } from './log.ts'

/** A view that somebody has to end. */
export interface OwnedView {
  ageMs(): number
  stop(): unknown
}

export type Own = <V extends OwnedView>(name: string, view: V) => V

export interface ViewPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export type SharedViews = ReturnType<typeof openSharedViews>

/** Views that several look at: each is opened once, when the first asks for it, and keeps what any of them needs. */
export function openSharedViews(ports: ViewPorts, own: Own) {
  const base = viewBase(ports)
  /** A kind of ours, which the cluster may not have: the operator came before its definitions. */
  const optional = <T extends KubeObject, V>(
    name: string,
    options: Pick<WatchCacheOptions<T, V>, 'project' | 'indexes'> & { readonly type: ResourceType<T> },
  ) =>
    once(() =>
      own(
        name,
        createOptionalCache<T, V>({
          ...base,
          ...options,
          onAbsent: () => ports.log.warn({ resource: options.type.plural }, 'no such kind here: apply deploy/crds'),
        }),
      ),
    )
  return {
    nodes: once(() =>
      own(
        'nodes',
        createWatchCache({
          ...base,
          type: nodes,
          project: (node) => ({ ...parseHostNode(node), ...parseGuardedNode(node), ...parseDrainedNode(node) }),
        }),
      ),
    ),
    pods: once(() =>
      own(
        'pods',
        createWatchCache({
          ...base,
          type: pods,
          project: (pod) => ({ ...parsePodOnNode(pod), ...parseGuardedPod(pod), ...parseHostedPod(pod) }),
          indexes: { node: (pod) => [pod.nodeName] },
        }),
      ),
    ),
    budgets: once(() =>
      own(
        'poddisruptionbudgets/holds',
        createWatchCache({
          ...base,
          type: podDisruptionBudgets,
          project: parseHoldableBudget,
          indexes: { namespace: (budget) => [budget.namespace] },
        }),
      ),
    ),
    disruptions: optional('nodedisruptions', {
      type: nodeDisruptions,
      project: (disruption) => ({ ...disruption, ...parseGuardedDisruption(disruption) }),
      indexes: { node: ({ spec }) => [spec.nodeName], requestId: ({ requestId }) => [requestId] },
    }),
    ledgers: optional('disruptionledgers', { type: disruptionLedgers, project: (ledger) => ledger }),
    parsedLedger: optional('disruptionledgers/parsed', { type: disruptionLedgers, project: parseLedger }),
  }
}

/** By the API they go to, which lasts as long as the views: while this process leads, or while it guards. */
const watchesOf = new WeakMap<KubeApi, SharedWatches>()

export function viewBase({ api, clock, random, log }: ViewPorts) {
  const watches = watchesOf.get(api) ?? new SharedWatches()
  watchesOf.set(api, watches)
  return {
    api,
    clock,
    random,
    watches,
    onError: (error: unknown) => log.warn({ error: errorText(error) }, 'a watch was interrupted, goes on'),
  }
}

/** As `viewBase`, for views of the namespaces of named Ceph clusters. */
export function scopedBase(ports: ViewPorts, namespaces: readonly string[] | undefined) {
  return {
    ...viewBase(ports),
    namespaces,
    onUnread: (namespace: string, error: Error) =>
      ports.log.warn(
        { namespace, error: error.message },
        'this namespace cannot be read: apply deploy/ceph there, or do not name a cluster in it',
      ),
  }
}

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
