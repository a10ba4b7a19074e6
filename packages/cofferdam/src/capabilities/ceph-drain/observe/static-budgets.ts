import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type {
  CephCluster,
  CephFilesystem,
  CephFilesystemMirror,
  CephNfs,
  CephNvmeofGateway,
  CephObjectStore,
  CephRbdMirror,
} from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { MonQuorum } from '../../../ceph/reader/ceph-ports.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import { parseCephCluster } from '../../../safety/ceph-settings.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { StorageTurns } from '../apply/storage-turns.ts'
import type { BesideOsds } from '../domain/daemon-budgets.ts'
import type { StaticPassSnapshot } from '../domain/decide-static-pass.ts'
import { type CephServices, isUnreadyPolicyStored } from '../domain/service-budgets.ts'
import type { StaticBudgetDecision } from '../domain/static-budgets.ts'
import { observeDaemons } from './observe.ts'
import { observeServiceDaemons, type ServiceDaemonViews } from './service-daemons.ts'

/** All are indexed by `namespace`. */
export interface StaticBudgetViews {
  readonly clusters: WatchView<CephCluster>
  readonly filesystems: WatchView<CephFilesystem>
  readonly objectStores: WatchView<CephObjectStore>
  readonly rbdMirrors: WatchView<CephRbdMirror>
  readonly nfs: WatchView<CephNfs>
  readonly nvmeof: WatchView<CephNvmeofGateway>
  readonly filesystemMirrors: WatchView<CephFilesystemMirror>
  /** Deployments of cephfs-mirror. */
  readonly mirrorDaemons: WatchView<Deployment>
  /** Deployments of monitors and managers. */
  readonly daemons: WatchView<Deployment>
  readonly budgets: WatchView<PodDisruptionBudget>
}

export interface BesideCephDrain extends ServiceDaemonViews {
  readonly turns: StorageTurns
  /** Pods of mons and mgrs, indexed by `namespace`. */
  readonly daemonPods: WatchView<Pod>
}

export interface StaticObserverPorts {
  readonly clock: Clock
  readonly views: StaticBudgetViews
  readonly rook: Pick<RookPresence, 'surroundings'>
  /** Where ceph-drain runs as well: whose turn it is among the nodes with OSDs, and who is on which node. */
  readonly beside?: BesideCephDrain
}

/** What is remembered of one cluster. */
interface Memory {
  quorum: Observed<MonQuorum>
  askedAt: number
  disturbedAt: number
  silentSince: number | undefined
  daemonBudgets: StaticBudgetDecision['daemonBudgets']
}

/** Observes the daemons of clusters, and remembers what Ceph said of their quorum. Keys are `namespace/name` of CephClusters. */
export class StaticBudgetObserver {
  readonly #ports: StaticObserverPorts
  readonly #memories = new Map<string, Memory>()
  #storesUnreadyPolicy: boolean | undefined

  constructor(ports: StaticObserverPorts) {
    this.#ports = ports
  }

  /** Something happened that may change the quorum. */
  disturb(key: string): void {
    this.#memoryOf(key).disturbedAt = this.#ports.clock.now()
  }

  forget(key: string): void {
    this.#memories.delete(key)
  }

  noteQuorum(key: string, quorum: Observed<MonQuorum>, askedAt: number): void {
    const memory = this.#memoryOf(key)
    memory.askedAt = askedAt
    memory.quorum = quorum
    memory.silentSince = quorum.known ? undefined : (memory.silentSince ?? askedAt)
  }

  /** What the API server made of a budget. */
  noteStored(sent: PodDisruptionBudget, stored: PodDisruptionBudget): void {
    this.#storesUnreadyPolicy = isUnreadyPolicyStored(sent, stored) ?? this.#storesUnreadyPolicy
  }

  noteDaemonBudgets(key: string, budgets: StaticBudgetDecision['daemonBudgets']): void {
    this.#memoryOf(key).daemonBudgets = budgets
  }

  observe(key: string, cluster: CephCluster): Omit<StaticPassSnapshot, 'isInTurn' | 'hasAsked'> {
    const { clock, views, rook, beside } = this.#ports
    const view = parseCephCluster(cluster, rook.surroundings(cluster))
    const { namespace } = view
    const { quorum, silentSince, askedAt, disturbedAt } = this.#memoryOf(key)
    const silentMs = silentSince === undefined ? 0 : clock.now() - silentSince
    return {
      nowMs: clock.now(),
      askedAtMs: askedAt,
      disturbedAtMs: disturbedAt,
      storesUnreadyPolicy: this.#storesUnreadyPolicy,
      input: {
        cluster: view,
        ...countDaemons(cluster, views.daemons.byIndex('namespace', namespace)),
        quorum: quorum.known ? known(inNumbers(quorum.value)) : quorum,
        isSilenceBrief: silentMs < view.settings.silenceGraceMs,
        ...observeServices(views, namespace),
        existing: views.budgets.byIndex('namespace', namespace),
        ...(beside === undefined ? {} : { beside: this.#observeBeside(key, namespace, beside) }),
      },
    }
  }

  #observeBeside(key: string, namespace: string, beside: BesideCephDrain): BesideOsds {
    const { turns, daemonPods, nodes } = beside
    const { views, clock } = this.#ports
    const daemons = observeDaemons({ daemonDeployments: views.daemons, daemonPods, nodes }, namespace)
    const services = observeServiceDaemons(beside, namespace)
    const isStaying = (name: string) => {
      const node = nodes.get({ name })
      return node !== undefined && !node.isClosed
    }
    const { daemonBudgets } = this.#memoryOf(key)
    return {
      daemons,
      turn: turns.inForce(key).turn,
      leavingNodes: new Set(
        [...daemons, ...services].flatMap(({ nodeName }) =>
          nodeName === undefined || isStaying(nodeName) ? [] : [nodeName],
        ),
      ),
      nowMs: clock.now(),
      memory: Object.fromEntries(
        Object.entries(daemonBudgets).flatMap(([name, { memory }]) => (memory === undefined ? [] : [[name, memory]])),
      ),
      ...(daemonBudgets['mon']?.headStarts === undefined ? {} : { headStarts: daemonBudgets['mon'].headStarts }),
      services,
    }
  }

  #memoryOf(key: string): Memory {
    let memory = this.#memories.get(key)
    if (memory === undefined) {
      memory = {
        quorum: unknown('Ceph is not polled yet'),
        askedAt: Number.NEGATIVE_INFINITY,
        disturbedAt: Number.NEGATIVE_INFINITY,
        silentSince: undefined,
        daemonBudgets: {},
      }
      this.#memories.set(key, memory)
    }
    return memory
  }
}

function inNumbers({ mons, inQuorum }: MonQuorum) {
  return {
    mons: mons.length,
    inQuorum: inQuorum.length,
    out: mons.filter((mon) => !inQuorum.includes(mon)),
  }
}

/** What the cluster asks for; where it leaves that to Rook, what Rook made of it. */
function countDaemons({ spec }: CephCluster, daemons: readonly Deployment[]) {
  const count = (app: string) => daemons.filter(({ metadata }) => metadata.labels?.['app'] === app).length
  return {
    monCount: spec?.mon?.count || count('rook-ceph-mon'),
    mgrCount: spec?.mgr?.count || count('rook-ceph-mgr'),
  }
}

function observeServices(views: StaticBudgetViews, namespace: string): CephServices {
  const of = <T extends KubeObject>(view: WatchView<T>) =>
    view
      .byIndex('namespace', namespace)
      .map((object) => ({ object, service: { name: object.metadata.name, uid: object.metadata.uid ?? '' } }))
  return {
    filesystems: of(views.filesystems).map(({ object: { spec }, service }) => ({
      ...service,
      activeCount: spec?.metadataServer?.activeCount ?? 1,
      activeStandby: spec?.metadataServer?.activeStandby === true,
    })),
    objectStores: of(views.objectStores).map(({ object: { spec }, service }) => ({
      ...service,
      instances: spec?.gateway?.instances ?? 1,
    })),
    rbdMirrors: of(views.rbdMirrors).map(({ object: { spec }, service }) => ({ ...service, count: spec?.count ?? 1 })),
    nfs: of(views.nfs).map(({ object: { spec }, service }) => ({ ...service, active: spec?.server?.active ?? 1 })),
    nvmeof: of(views.nvmeof).map(({ object: { spec }, service }) => ({ ...service, instances: spec?.instances ?? 1 })),
    filesystemMirrors: of(views.filesystemMirrors).map(({ service }) => ({
      ...service,
      daemons: views.mirrorDaemons
        .byIndex('namespace', namespace)
        .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/part-of'] === service.name)
        .reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0),
    })),
  }
}
