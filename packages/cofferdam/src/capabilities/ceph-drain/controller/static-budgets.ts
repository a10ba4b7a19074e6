import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type {
  CephCluster,
  CephFilesystem,
  CephNfs,
  CephObjectStore,
  CephRbdMirror,
} from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { CephPorts, MonQuorum } from '../../../ceph/reader/ceph-ports.ts'
import { followClusters, isBudgetNews, splitKey } from '../../../ceph/reader/follow-clusters.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import { RefusedWrites } from '../../../ceph/refused-writes.ts'
import type { CephClusterView } from '../../../safety/ceph-cluster-view.ts'
import { parseCephCluster } from '../../../safety/ceph-settings.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { StorageTurns } from '../apply/storage-turns.ts'
import { isManagedByUs } from '../domain/budget-mark.ts'
import type { BesideOsds } from '../domain/daemon-budgets.ts'
import type { NodeView } from '../domain/snapshot.ts'
import { decideStaticBudgets, type StaticBudgetDecision } from '../domain/static-budgets.ts'
import { observeDaemons } from '../observe/observe.ts'
import type { CephReports } from '../report/report.ts'

export const cephStaticBudgetsPermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephfilesystems', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephnfses', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephobjectstores', verbs: ['list', 'watch'] },
  { group: 'ceph.rook.io', resource: 'cephrbdmirrors', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', grantedBy: 'ceph', verbs: ['create', 'update', 'delete'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

/** All are indexed by `namespace`. */
export interface StaticBudgetViews {
  readonly clusters: WatchView<CephCluster>
  readonly filesystems: WatchView<CephFilesystem>
  readonly objectStores: WatchView<CephObjectStore>
  readonly rbdMirrors: WatchView<CephRbdMirror>
  readonly nfs: WatchView<CephNfs>
  /** Of monitors and managers. */
  readonly daemons: WatchView<Deployment>
  readonly budgets: WatchView<PodDisruptionBudget>
}

export interface StaticBudgetPorts {
  readonly clock: Clock
  readonly views: StaticBudgetViews
  readonly ceph: Pick<CephPorts, 'of' | 'observeQuorum'>
  readonly reports: CephReports
  readonly rook: RookPresence
  /** Where ceph-drain runs as well: whose turn it is among the nodes with OSDs, and who is on which node. */
  readonly beside?: BesideCephDrain
  applyBudgets(writes: readonly BudgetWrite[], signal: AbortSignal): Promise<string | undefined>
}

export interface BesideCephDrain {
  readonly turns: StorageTurns
  /** Of mons and mgrs, indexed by `namespace`. */
  readonly daemonPods: WatchView<Pod>
  readonly nodes: WatchView<NodeView>
}

interface Memory {
  quorum: Observed<MonQuorum>
  askedAt: number
  disturbedAt: number
  silentSince: number | undefined
  daemonBudgets: StaticBudgetDecision['daemonBudgets']
}

/** A monitor that lost its pod leaves the quorum some seconds later. */
const quorumSettlesMs = 30_000
const unsettledSeconds = 2
const calmSeconds = 120

/** Keeps the budgets of all daemons but OSDs as their numbers and the quorum allow. Keys are CephClusters. */
export function createCephStaticBudgets(ports: StaticBudgetPorts): Controller {
  const { clock, views, ceph, reports } = ports
  const memories = new Map<string, Memory>()
  const refused = new RefusedWrites(reports)
  const events = reports.events.scoped()
  const { beside } = ports
  const needed = [
    ...Object.values(views),
    ports.rook.operators,
    ...(beside === undefined ? [] : [beside.daemonPods, beside.nodes]),
  ] as const

  return {
    name: 'ceph-static-budgets',

    async start(enqueue, signal) {
      const { clusters, budgets, daemons, ...services } = views
      const disturb = (key: string) => {
        memoryOf(key).disturbedAt = clock.now()
        enqueue(key)
      }
      const follower = followClusters(clusters, signal)
      signal.addEventListener(
        'abort',
        clusters.subscribe(({ key }) => disturb(key)),
        { once: true },
      )
      follower.follow(daemons, disturb)
      if (beside !== undefined) {
        follower.follow(beside.daemonPods, enqueue)
        follower.followForAll(beside.nodes, enqueue)
        beside.turns.follow('turn', enqueue, signal)
      }
      follower.follow(services.filesystems, enqueue)
      follower.follow(services.objectStores, enqueue)
      follower.follow(services.rbdMirrors, enqueue)
      follower.follow(services.nfs, enqueue)
      follower.follow(budgets, (key, change) => {
        if (isBudgetNews(change)) enqueue(key)
      })
      follower.followForAll(ports.rook.operators, enqueue)
      await Promise.all(needed.map((view) => view.whenSynced(signal)))
      for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
    },

    async reconcile(key, signal) {
      const cluster = views.clusters.get(splitKey(key))
      if (cluster === undefined || cluster.spec?.external?.enable === true) {
        memories.delete(key)
        refused.forget(key)
        events.forget(key)
        return undefined
      }
      try {
        return await reconcileCluster(key, cluster, signal)
      } catch (error) {
        if (hasReason(error, 'Forbidden')) await refused.report(key, cluster, error.message)
        throw error
      }
    },
  }

  async function reconcileCluster(key: string, cluster: CephCluster, signal: AbortSignal) {
    const view = parseCephCluster(cluster, { besideRook: ports.rook.isRooks(cluster) })
    const { namespace } = view
    const memory = memoryOf(key)
    const counts = countDaemons(cluster, views.daemons.byIndex('namespace', namespace))
    const asksQuorum = view.mode === 'manage' && counts.monCount >= 3
    if (asksQuorum) await askQuorum(key, cluster, signal)
    const work = () => decideAndWrite(key, view, counts, signal)
    const decision = await (beside === undefined ? work() : beside.turns.exclusively(key, work))
    refused.forget(key)
    await reportProblems(key, cluster, decision)
    const rechecks = Object.values(decision.daemonBudgets).flatMap(({ recheckAfterMs }) =>
      recheckAfterMs === undefined ? [] : [Math.ceil(recheckAfterMs / 1_000)],
    )
    if (!asksQuorum) return rechecks.length === 0 ? undefined : { recheckAfterSeconds: Math.min(...rechecks) }
    const isSettled = memory.quorum.known && clock.now() - memory.disturbedAt >= quorumSettlesMs
    const usual = isSettled ? calmSeconds : memory.quorum.known ? unsettledSeconds : 5
    return { recheckAfterSeconds: Math.min(usual, ...rechecks) }
  }

  async function decideAndWrite(
    key: string,
    view: CephClusterView,
    counts: ReturnType<typeof countDaemons>,
    signal: AbortSignal,
  ): Promise<StaticBudgetDecision> {
    const { namespace } = view
    const memory = memoryOf(key)
    const { quorum, silentSince } = memory
    const silentMs = silentSince === undefined ? 0 : clock.now() - silentSince
    const existing = views.budgets.byIndex('namespace', namespace)
    const decision = decideStaticBudgets({
      cluster: view,
      ...counts,
      quorum: quorum.known ? known(inNumbers(quorum.value)) : quorum,
      isSilenceBrief: silentMs < view.settings.silenceGraceMs,
      ...observeServices(views, namespace),
      existing,
      ...(beside === undefined ? {} : { beside: observeBeside(key, namespace, beside) }),
    })
    const version = await ports.applyBudgets(planStaticWrites(decision, existing), signal)
    if (version !== undefined) await views.budgets.whenSeen(version, signal)
    memory.daemonBudgets = decision.daemonBudgets
    const loose = Object.values(decision.daemonBudgets).map((budget) => budget.loose)
    if (!loose.includes(undefined))
      beside?.turns.publishLoose(key, [...new Set(loose.flatMap((nodes) => nodes ?? []))].sort())
    return decision
  }

  function observeBeside(key: string, namespace: string, { turns, daemonPods, nodes }: BesideCephDrain): BesideOsds {
    const daemons = observeDaemons({ daemonDeployments: views.daemons, daemonPods, nodes }, namespace)
    const isStaying = (name: string) => {
      const node = nodes.get({ name })
      return node !== undefined && !(node.isClosed ?? node.isCordoned)
    }
    const { daemonBudgets } = memoryOf(key)
    return {
      daemons,
      turn: turns.inForce(key).turn,
      leavingNodes: new Set(
        daemons.flatMap(({ nodeName }) => (nodeName === undefined || isStaying(nodeName) ? [] : [nodeName])),
      ),
      nowMs: clock.now(),
      memory: {
        ...(daemonBudgets.mon?.memory === undefined ? {} : { mon: daemonBudgets.mon.memory }),
        ...(daemonBudgets.mgr?.memory === undefined ? {} : { mgr: daemonBudgets.mgr.memory }),
      },
    }
  }

  /** A change of a budget alone is no reason to ask again. */
  async function askQuorum(key: string, cluster: CephCluster, signal: AbortSignal): Promise<void> {
    const memory = memoryOf(key)
    const now = clock.now()
    const isSettling = now - memory.disturbedAt < quorumSettlesMs || !memory.quorum.known
    if (now - memory.askedAt < (isSettling ? 1 : calmSeconds) * 1_000) return
    memory.askedAt = now
    memory.quorum = await observeQuorum(cluster, signal)
    memory.silentSince = memory.quorum.known ? undefined : (memory.silentSince ?? now)
  }

  async function observeQuorum({ metadata }: CephCluster, signal: AbortSignal): Promise<Observed<MonQuorum>> {
    const commands = ceph.of({ namespace: metadata.namespace ?? '', name: metadata.name })
    if (commands === undefined) return unknown('no way to reach this Ceph is known')
    try {
      return await ceph.observeQuorum(commands, signal)
    } catch (error) {
      signal.throwIfAborted()
      return unknown(error instanceof Error ? error.message : String(error))
    }
  }

  async function reportProblems(key: string, cluster: CephCluster, { problems }: StaticBudgetDecision) {
    const note = problems.map(({ object, problem }) => `${object}: ${problem}`).join('; ')
    if (note === '') events.forget(key)
    else await events.record(cluster, { type: 'Warning', reason: 'ObjectsUnusable', note }, { group: key })
  }

  function memoryOf(key: string): Memory {
    let memory = memories.get(key)
    if (memory === undefined) {
      memory = {
        quorum: unknown('Ceph is not polled yet'),
        askedAt: Number.NEGATIVE_INFINITY,
        disturbedAt: Number.NEGATIVE_INFINITY,
        silentSince: undefined,
        daemonBudgets: {},
      }
      memories.set(key, memory)
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

function observeServices(views: StaticBudgetViews, namespace: string) {
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
  }
}

function planStaticWrites(
  { desired, remove }: Pick<StaticBudgetDecision, 'desired' | 'remove'>,
  existing: readonly PodDisruptionBudget[],
): BudgetWrite[] {
  const seenByName = new Map(existing.map((budget) => [budget.metadata.name, budget]))
  return [
    ...desired.flatMap((budget): BudgetWrite[] => {
      const seen = seenByName.get(budget.metadata.name)
      if (seen === undefined) return [{ verb: 'create', budget }]
      const isSame = isSameJson(seen.spec, budget.spec) && isManagedByUs(seen)
      return isSame ? [] : [{ verb: 'replace', seen, budget }]
    }),
    ...remove.flatMap((name): BudgetWrite[] => {
      const seen = seenByName.get(name)
      return seen === undefined ? [] : [{ verb: 'delete', seen }]
    }),
  ]
}
