import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import {
  leases,
  nodeLeaseNamespace,
  nodes,
  podDisruptionBudgets,
  pods as podType,
} from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AppLockPolicy } from '../../../ledger/rules/app-lock.ts'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import type { LedgerStore } from '../../../ledger/store/ledger-store.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import type { DisruptionPolicy } from '../../../shared/kinds/disruption-policy.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { ScaleDownKeeper } from '../../questions.ts'
import { parseRequest } from '../apply/record.ts'
import type { ResponderAsker } from '../apply/responders.ts'
import type { CountedNode, LimitFacts } from '../domain/maintenance-limits.ts'
import type { ResponderFacts } from '../domain/responder-facts.ts'
import type { RequestView } from '../domain/snapshot.ts'
import { buildSnapshot, type ObservedDisruption } from './build-snapshot.ts'
import { byName } from './covering-budgets.ts'
import { observeResponders } from './eviction-requests.ts'
import type { ObserveKeysPorts } from './keys.ts'
import { type HoldableBudget, type HostedPod, parseHoldableBudget, parseHostedPod, parseSeenNode } from './objects.ts'

export interface DisruptionViews {
  /** Indexed by `node`. */
  readonly disruptions: WatchView<NodeDisruption>
  readonly ledgers: WatchView<DisruptionLedger>
  readonly nodes: WatchView<CountedNode>
  readonly policies: WatchView<DisruptionPolicy>
  /** Indexed by `node`. */
  readonly pods: WatchView<HostedPod>
  /** Indexed by `namespace`. */
  readonly budgets: WatchView<HoldableBudget>
}

export interface ObserveDisruptionPorts extends Pick<ObserveKeysPorts, 'observeStorage'> {
  /** The limits on nodes in maintenance that count the node. */
  readonly observeLimits: (nodeName: string) => Observed<readonly LimitFacts[]>
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Pick<Clock, 'now'>
  readonly views: Pick<DisruptionViews, 'pods' | 'budgets'>
  readonly store: Pick<LedgerStore, 'read'>
  /** Where autoscalers are kept from nodes that are taken out for a reboot. */
  readonly scaleDownKeeper?: ScaleDownKeeper | undefined
  /** Where the responders that pods name are asked; absent: nothing is read of them. */
  readonly asker?: Pick<ResponderAsker, 'refused'>
  readonly settings: DrainLockSettings
  readonly appLocks: AppLockPolicy
  /** This process, as others know it. */
  readonly identity: string
}

/**
 * Sees everything that the next steps of a request depend on. The node, the ledger and the record are always as they are
 * now; pods and budgets come from copies that follow the API server, or with `isFresh` from the server itself.
 */
export async function observeDisruption(
  ports: ObserveDisruptionPorts,
  object: NodeDisruption,
  { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
): Promise<ObservedDisruption> {
  const { clock, store, settings, appLocks, identity, views } = ports
  const request = parseRequest(object)
  const [ledger, node, hosted] = await Promise.all([
    store.read(signal),
    getNode(ports, request, signal),
    podsOn(ports, request.nodeName, { isFresh, signal }),
  ])
  const [storage, responders, atStake] = await Promise.all([
    observeStorage(ports, request, ledger, signal),
    respondersOf(ports, request, hosted, signal),
    isFresh ? listAtStake(ports, hosted, { request, signal }) : undefined,
  ])
  return buildSnapshot({
    nowMs: clock.now(),
    identity,
    object,
    node,
    hosted,
    budgetsIn: (namespace) => atStake?.get(namespace) ?? views.budgets.byIndex('namespace', namespace),
    ledger,
    storage,
    limits: ports.observeLimits(request.nodeName),
    settings,
    appLocks,
    ...(responders === undefined ? {} : { responders }),
  })
}

/** The budgets of all namespaces in which one is locked or about to be. */
async function listAtStake(
  { api }: ObserveDisruptionPorts,
  hosted: readonly HostedPod[],
  { request, signal }: { readonly request: RequestView; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, readonly HoldableBudget[]>> {
  const namespaces = new Set(request.record.lockedBudgets.map(({ namespace }) => namespace))
  for (const { namespace, wantsToStay } of hosted) if (wantsToStay) namespaces.add(namespace)
  const lists = [...namespaces].map(async (namespace): Promise<[string, readonly HoldableBudget[]]> => {
    const { items } = await api.list(podDisruptionBudgets, { namespace, signal })
    return [namespace, items.map(parseHoldableBudget)]
  })
  return new Map(await Promise.all(lists))
}

async function respondersOf(
  { api, asker }: ObserveDisruptionPorts,
  { id: requestId }: RequestView,
  hosted: readonly HostedPod[],
  signal: AbortSignal,
): Promise<ResponderFacts | undefined> {
  const namespaces = new Set(hosted.filter(({ responders }) => responders !== undefined).map((pod) => pod.namespace))
  if (asker === undefined || namespaces.size === 0) return undefined
  return observeResponders(api, { requestId, namespaces, refused: asker.refused(requestId) }, signal)
}

async function getNode(ports: ObserveDisruptionPorts, request: RequestView, signal: AbortSignal) {
  const { api, scaleDownKeeper } = ports
  try {
    const node = await api.get(nodes, { name: request.nodeName }, { signal })
    const seen = { ...parseSeenNode(node), ...(await hearOfNode(ports, request, signal)) }
    return scaleDownKeeper === undefined ? seen : { ...seen, isKeptFromScaleDown: scaleDownKeeper.isKept(node) }
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** Only where the node may be on its way down though it is to stay. */
async function hearOfNode(
  { api }: ObserveDisruptionPorts,
  { record, nodeName: name }: RequestView,
  signal: AbortSignal,
): Promise<{ readonly heard?: string }> {
  if (record.phase !== 'Drained' && record.heardBefore === undefined) return {}
  try {
    const { spec } = await api.get(leases, { namespace: nodeLeaseNamespace, name }, { signal })
    return spec?.renewTime === undefined ? {} : { heard: spec.renewTime }
  } catch (error) {
    if (hasReason(error, 'NotFound') || hasReason(error, 'Forbidden')) return {}
    throw error
  }
}

async function podsOn(
  { api, views }: ObserveDisruptionPorts,
  nodeName: string,
  { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
): Promise<readonly HostedPod[]> {
  if (!isFresh) return views.pods.byIndex('node', nodeName).toSorted(byName)
  const { items } = await api.list(podType, { fieldSelector: `spec.nodeName=${nodeName}`, signal })
  return items.map(parseHostedPod).sort(byName)
}

/** All storage with daemons on the node, and whatever else the request holds a key of: a node that is gone has none. */
async function observeStorage(
  ports: ObserveDisruptionPorts,
  { id, nodeName }: RequestView,
  ledger: Observed<Ledger>,
  signal: AbortSignal,
): Promise<readonly StorageFacts[]> {
  const onNode = await ports.observeStorage({ node: nodeName }, signal)
  const entries = ledger.known ? ledger.value.entries : []
  const held = entries.filter(({ requestId, key }) => requestId === id && key.startsWith('storage/'))
  const unseen = held.filter(({ key }) => !onNode.some((storage) => storage.key === key))
  const rest = await Promise.all(unseen.map(({ key, scope }) => ports.observeStorage({ key, scopes: [scope] }, signal)))
  return [...onNode, ...rest.flat()]
}
