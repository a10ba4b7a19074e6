import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodes, pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AppLockPolicy } from '../../../ledger/rules/app-lock.ts'
import type { AppLockRecord } from '../../../ledger/rules/app-lock-record.ts'
import { parseBreakGlass } from '../../../ledger/rules/break-glass.ts'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import type { LedgerStore } from '../../../ledger/store/ledger-store.ts'
import { breakGlassAnnotation } from '../../../shared/break-glass-annotation.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import type { DisruptionPolicy } from '../../../shared/kinds/disruption-policy.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { ScaleDownKeeper } from '../../questions.ts'
import { parseRequest } from '../apply/record.ts'
import type { ResponderAsker } from '../apply/responders.ts'
import type { DisruptionWarning } from '../domain/decision.ts'
import type { CountedNode, LimitFacts } from '../domain/maintenance-limits.ts'
import type { ResponderFacts } from '../domain/responder-facts.ts'
import type { DisruptionSnapshot, PodFacts, RequestView } from '../domain/snapshot.ts'
import { byName } from './covering-budgets.ts'
import { observeResponders } from './eviction-requests.ts'
import type { ObserveKeysPorts } from './keys.ts'
import { type HoldableBudget, type HostedPod, type HostNode, parseHostedPod, parseHostNode } from './objects.ts'
import { observeBudgets } from './observe-budgets.ts'

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

export interface ObservedDisruption extends DisruptionSnapshot {
  /** Annotations that cannot be used: they block nothing, and are reported to the requester. */
  readonly faults: readonly DisruptionWarning[]
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
  const { clock, store, settings, identity } = ports
  const seen = parseRequest(object)
  const [ledger, node, hosted] = await Promise.all([
    store.read(signal),
    getNode(ports, seen.nodeName, signal),
    podsOn(ports, seen.nodeName, { isFresh, signal }),
  ])
  const request = withOwnCordon(seen, node)
  const records = ledger.known ? ledger.value.appLocks : noRecords
  const [storage, responders, { budgets, uidsOf }] = await Promise.all([
    observeStorage(ports, request, ledger, signal),
    respondersOf(ports, request, hosted, signal),
    observeBudgets(ports, hosted, { request, isFresh, records, signal }),
  ])
  return {
    nowMs: clock.now(),
    holder: `${identity} for nodedisruption/${request.name}`,
    request,
    node,
    pods: hosted.map((pod, at) => podFacts(pod, uidsOf[at] as readonly string[])),
    budgets: budgets.map(({ facts }) => facts),
    ledger,
    storage,
    limits: ports.observeLimits(request.nodeName),
    settings,
    ...(responders === undefined ? {} : { responders }),
    faults: [...requestFaults(object), ...budgets.flatMap(({ faults }) => faults)],
  }
}

const noRecords: readonly AppLockRecord[] = []

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

function requestFaults({ metadata: { name, annotations = {} } }: NodeDisruption): DisruptionWarning[] {
  const { problem } = parseBreakGlass(annotations[breakGlassAnnotation])
  return problem === undefined ? [] : [{ object: `nodedisruption/${name}`, says: problem }]
}

async function getNode({ api, scaleDownKeeper }: ObserveDisruptionPorts, name: string, signal: AbortSignal) {
  try {
    const node = await api.get(nodes, { name }, { signal })
    return {
      ...parseHostNode(node),
      resourceVersion: node.metadata.resourceVersion ?? '',
      ...(scaleDownKeeper === undefined ? {} : { isKeptFromScaleDown: scaleDownKeeper.isKept(node) }),
    }
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** The mark on the node says whose cordon it is, whatever we had meant to do and whatever was made of the record. */
function withOwnCordon(request: RequestView, node: HostNode | undefined): RequestView {
  const { record, name, id } = request
  if (node?.isCordoned !== true) return request
  const own = `nodedisruption/${name}`
  const isMarked = node.cordonedBy === id
  const isOnRecord = record.cordonedBy === own
  if (isMarked === isOnRecord || (isMarked && record.cordonedBy !== undefined)) return request
  return { ...request, record: { ...record, cordonedBy: isMarked ? own : 'another user' } }
}

async function podsOn(
  { api, views }: ObserveDisruptionPorts,
  nodeName: string,
  { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
): Promise<readonly HostedPod[]> {
  if (!isFresh) return [...views.pods.byIndex('node', nodeName)].sort(byName)
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

/** Field by field: of many pods, leaving some out of all is slow. */
function podFacts(pod: HostedPod, budgetUids: readonly string[]): PodFacts {
  const { namespace, name, uid, kind, isReady, isLeaving, wantsToStay, toleratesMs, losses, leaving, responders } = pod
  const isOsd = pod.labels['app'] === 'rook-ceph-osd'
  const facts = { namespace, name, uid, kind, isReady, isLeaving, wantsToStay, toleratesMs, losses, budgetUids }
  if (leaving === undefined && responders === undefined && !isOsd) return facts
  return { ...facts, ...(leaving && { leaving }), ...(responders && { responders }), ...(isOsd && { isOsd }) }
}
