import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Lease, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  type MachineHealthCheck,
  medik8sLeaseNamespace,
  type NodeHealthCheck,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { LastDecision, LastDecisions } from '../../../ceph/reader/last-decisions.ts'
import { nodeKey } from '../../../ledger/rules/keys.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { observeLedger, type StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { KindView } from '../../kind-view.ts'
import type { FencingObjects } from '../domain/parse-fencing.ts'
import { parseMons } from '../domain/parse-mons.ts'
import type { RebootObjects } from '../domain/parse-reboots.ts'
import { parseFencingSettings } from '../domain/settings.ts'
import type { CephEvidence, FencedCluster, FencingSnapshot } from '../domain/snapshot.ts'
import { type DrainedDomains, storageHolders } from '../domain/storage-holders.ts'
import type { OsdPods } from './fresh-osd-pods.ts'
import type { FencedOsds } from './osds.ts'

export interface FencingViews {
  readonly clusters: WatchView<CephCluster>
  /** Indexed by `namespace`. */
  readonly osdDeployments: WatchView<Deployment>
  /** Indexed by `osd`, as `indexOfOsd` says. */
  readonly osdPods: WatchView<Pod>
  /** Deployments and pods of monitors, indexed by `namespace`. */
  readonly monDeployments: WatchView<Deployment>
  readonly monPods: WatchView<Pod>
  /** Indexed by `hostname`. */
  readonly nodes: WatchView<Node>
  readonly openshiftMachines: KindView<Machine>
  readonly clusterApiMachines: KindView<Machine>
  readonly budgets: KindView<MachineDisruptionBudget>
  readonly openshiftHealthChecks: KindView<MachineHealthCheck>
  readonly clusterApiHealthChecks: KindView<MachineHealthCheck>
  readonly nodeHealthChecks: KindView<NodeHealthCheck>
  readonly namespaces: WatchView<{ readonly name: string }>
  readonly requests: KindView<NodeDisruption>
  /** Leases of medik8s. Where they cannot be read, medik8s is paused instead. */
  readonly leases: WatchView<Lease>
}

export interface FencingObservePorts {
  readonly clock: Clock
  readonly views: FencingViews
  /** Undefined: ceph-drain does not run in this process, so nobody knows how Ceph is. */
  readonly decisions: Pick<LastDecisions, 'latest'> | undefined
  readonly ledger: StorageLedger | undefined
  readonly parse: (objects: FencingObjects) => FencingSnapshot
  readonly osds: Pick<FencedOsds, 'observe'>
  /** How long a node that is rebooted on plan may be away, where its request does not say. */
  readonly plannedOutageMs: number
  /** Whether a fence has released what the view of the ledger still shows. */
  readonly isReleased?: (requestId: string) => boolean
  /** Why a cluster cannot have a budget, by `namespace/name`. */
  readonly unmade?: ReadonlyMap<string, string>
  /** What is known of Ceph, for whoever goes by what the operator wrote down instead of by what was decided in this process. */
  readonly recordedEvidence?: (cluster: CephCluster) => Pick<FencedCluster, 'evidence' | 'silence'>
}

export interface ObservedFencing {
  readonly objects: FencingObjects
  readonly snapshot: FencingSnapshot
}

/** Without these the others are still good for something. */
const spared = ['leases', 'namespaces', 'requests']

/** Views without which nothing can be said of any machine, and that have not been read yet. */
export function unreadViews(views: FencingViews): string[] {
  return Object.entries({ ...views } as Readonly<Record<string, Pick<WatchView<unknown>, 'synced'>>>)
    .filter(([name, view]) => !view.synced && !spared.includes(name))
    .map(([name]) => name)
}

/** What was read at the API server just now. */
export interface FreshlyRead {
  readonly ledger?: Observed<Ledger> | undefined
  readonly osdPods?: Observed<OsdPods>
}

/** `fresh` stands for what the watches show, where that matters. */
export function observeFencing(ports: FencingObservePorts, fresh?: FreshlyRead): ObservedFencing {
  const { clock, views } = ports
  const ledger = fresh?.ledger ?? (ports.ledger && observeLedger(ports.ledger.view))
  const clusters = [...views.clusters.list()]
    .sort((a, b) => (keyText(keyOf(a)) < keyText(keyOf(b)) ? -1 : 1))
    .map((cluster) => observeCluster(ports, cluster, { ...fresh, ledger }))
  const objects: FencingObjects = {
    nowMs: clock.now(),
    clusters,
    openshiftMachines: served(views.openshiftMachines),
    clusterApiMachines: served(views.clusterApiMachines),
    nodes: [...views.nodes.list()],
    budgets: [...views.budgets.list()],
    openshiftHealthChecks: [...views.openshiftHealthChecks.list()],
    clusterApiHealthChecks: [...views.clusterApiHealthChecks.list()],
    nodeHealthChecks: served(views.nodeHealthChecks),
    leases: areLeasesReadable(views) ? [...views.leases.list()] : undefined,
    reboots: observeReboots(ports, ledger),
  }
  return { objects, snapshot: ports.parse(objects) }
}

function observeReboots(
  { views: { requests }, plannedOutageMs }: Pick<FencingObservePorts, 'views' | 'plannedOutageMs'>,
  ledger: Observed<Ledger> | undefined,
): RebootObjects {
  const entries = ledger?.known === true ? ledger.value.entries : []
  const begun = entries.filter(({ key, state }) => key.startsWith(nodeKey('')) && state !== 'Granted')
  return {
    requests: requests.synced ? known([...requests.list()]) : unknown('NodeDisruptions cannot be read'),
    begun: new Set(begun.map(({ requestId }) => requestId)),
    plannedOutageMs,
  }
}

function served<T extends KubeObject>(view: KindView<T>): readonly T[] | undefined {
  return view.isServed() ? [...view.list()] : undefined
}

export function areMachinesServed({
  openshiftMachines,
  clusterApiMachines,
}: Pick<FencingViews, 'openshiftMachines' | 'clusterApiMachines'>): boolean {
  return openshiftMachines.isServed() || clusterApiMachines.isServed()
}

export function areLeasesExpected({ namespaces }: Pick<FencingViews, 'namespaces'>): boolean {
  return namespaces.get({ name: medik8sLeaseNamespace }) !== undefined
}

function areLeasesReadable(views: FencingViews): boolean {
  return areLeasesExpected(views) && views.leases.synced
}

function observeCluster(
  { views, decisions, osds, unmade, recordedEvidence, isReleased = () => false }: FencingObservePorts,
  cluster: CephCluster,
  { ledger, osdPods = known(views.osdPods) }: FreshlyRead,
): FencedCluster {
  const { namespace = '', name, uid = '', deletionTimestamp } = cluster.metadata
  const decided = decisions?.latest(`${namespace}/${name}`)
  const id = { namespace, name, uid }
  const whyNoBudget = views.budgets.isServed()
    ? unmade?.get(`${namespace}/${name}`)
    : 'the kind MachineDisruptionBudget is not installed: apply deploy/crds'
  const { osdDeployments, nodes } = views
  const observeOsds = (pods: OsdPods) => osds.observe({ osdDeployments, osdPods: pods, nodes }, namespace, decided)
  const daemons = osdPods.known
    ? daemonsOf(views, () => observeOsds(osdPods.value), namespace)
    : { ...daemonsOf(views, () => observeOsds(views.osdPods), namespace), osdsUnread: osdPods.why }
  const recorded = recordedEvidence?.(cluster)
  const isSilent = decided?.snapshot.ceph.known === false
  return {
    ...id,
    isBeingDeleted: deletionTimestamp !== undefined,
    settings: parseFencingSettings(cluster, areMachinesServed(views)),
    ...(recorded ?? {
      evidence: evidenceOf(decisions === undefined ? undefined : (decided ?? 'none'), whyNoBudget),
      ...(isSilent ? { silence: { lastAnswerMs: decided?.cephAskedAtMs } } : {}),
    }),
    ...daemons,
    ...storageHolders(ledger, id, { drained: decided && drainedDomains(decided), isReleased }),
  }
}

function drainedDomains({ snapshot, decision: { domains } }: LastDecision): DrainedDomains {
  return { domains, closed: new Set(snapshot.nodes.flatMap(({ name, isClosed }) => (isClosed ? name : []))) }
}

/** A namespace that may not be read takes nothing from other clusters: of this one it is not known where its OSDs are. */
function daemonsOf(
  { monDeployments, monPods }: FencingViews,
  observeOsds: () => FencedCluster['osds'],
  namespace: string,
): Pick<FencedCluster, 'osds' | 'mons' | 'osdsUnread'> {
  try {
    const mons = parseMons(monDeployments.byIndex('namespace', namespace), monPods.byIndex('namespace', namespace))
    return { osds: observeOsds(), mons }
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error
    return { osds: [], osdsUnread: error.message }
  }
}

function evidenceOf(
  decided: LastDecision | 'none' | undefined,
  whyNoBudget: string | undefined,
): Observed<CephEvidence> {
  if (decided === undefined) return unknown('ceph-drain does not run beside it')
  if (decided === 'none') return unknown('ceph-drain has not polled it yet')
  const { ceph } = decided.snapshot
  if (!ceph.known) return ceph
  if (decided.cephAskedAtMs === undefined) return unknown('it has never answered')
  const { pgs, upOsds } = ceph.value
  return known({ polledAtMs: decided.cephAskedAtMs, upOsds: new Set(upOsds), isClean: cleanliness() })

  function cleanliness(): Observed<boolean> {
    // Without a budget no fence can be remembered, and a second could follow before Ceph notices the first.
    if (whyNoBudget !== undefined) return unknown(whyNoBudget)
    return pgs.health === 'unknown' ? unknown(pgs.why) : known(pgs.health === 'clean')
  }
}

/** What is read of a node; heartbeats are left out. */
export function slimFencedNode({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, uid, labels } = metadata
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const { lastTransitionTime } = ready ?? {}
  return {
    apiVersion,
    kind,
    metadata: { name, ...(uid === undefined ? {} : { uid }), ...(labels === undefined ? {} : { labels }) },
    status: {
      conditions:
        ready === undefined
          ? []
          : [
              {
                type: 'Ready',
                status: ready.status,
                ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
              },
            ],
      ...(status?.nodeInfo === undefined ? {} : { nodeInfo: { ...status.nodeInfo } }),
    },
  }
}
