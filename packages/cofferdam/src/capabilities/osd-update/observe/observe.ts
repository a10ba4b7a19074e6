import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import { ofSameCluster } from '../../../ceph/of-same-cluster.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import { parseDisruptionSettings } from '../../../safety/ceph-settings.ts'
import { countedMap, ignoredPoolProblems } from '../../../safety/ignored-pools.ts'
import { isStandingStill } from '../../../safety/pg-evidence.ts'
import { pgHealth } from '../../../safety/pg-health.ts'
import type { CephTrust } from '../../../shared/ceph-trust/named-clusters.ts'
import { soleNode } from '../../../shared/node-hostnames.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { readUpdate } from '../apply/record.ts'
import { cordonedNodes } from '../domain/cordoned-nodes.ts'
import { type CephDaemon, daemonsBehind } from '../domain/daemons-first.ts'
import { recordOfGeneration } from '../domain/judge-returns.ts'
import { currentPace, isTouched, isWalkDue, osdPaceOf, pacedOsd, paceKey } from '../domain/pace-osds.ts'
import type { PaceState } from '../domain/pace-state.ts'
import { type OsdNode, parseUpdateObjects } from '../domain/parse-update-objects.ts'
import { peeredOsds, stopEpochs } from '../domain/peered-osds.ts'
import { isPodBefore, parseRestartRequest, restartGeneration } from '../domain/restart-request.ts'
import type { RestartWay } from '../domain/restart-way.ts'
import type { RookPass } from '../domain/rook-pass.ts'
import type { CephForUpdate, OsdUpdateSnapshot, UpdatableOsd, UpdatedCluster } from '../domain/snapshot.ts'
import { isLaterToCome, isWrittenForLater, type StartNote, type StoredUpdate } from '../domain/stored-update.ts'
import { isBesideRook, type UpdateMode, updateModeOf } from '../domain/update-mode.ts'
import { parseUpdateSettings, type UpdateSettings } from '../domain/update-settings.ts'
import { HeldPods } from './held-pods.ts'
import { OlderClusters } from './older-clusters.ts'
import { type RestartSurroundings, type RestartWayPorts, RestartWays, wayOfPods } from './restart-ways.ts'
import { rookOperatorOf } from './rook-operator.ts'

export interface OsdUpdateViews {
  /** With their generation. Indexed by `namespace`, as are the Deployments. */
  readonly clusters: WatchView<CephCluster>
  /** All of them but the managed fields, for they are written back. */
  readonly osdDeployments: WatchView<Deployment>
  readonly osdPods: WatchView<Pod>
  /** Indexed by `hostname`. */
  readonly nodes: WatchView<OsdNode>
  /** Mons and mgrs. Indexed by `namespace`. */
  readonly daemons: WatchView<CephDaemon>
  /** Indexed by `namespace`. */
  readonly budgets: RestartWayPorts['budgets']
}

export interface UpdateObserverPorts extends Pick<RestartWayPorts, 'appLocks' | 'ledgers'> {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Clock
  readonly views: OsdUpdateViews
  readonly ceph: CephPorts
  readonly rook: RookPresence
  /** Which clusters are ours, as the administrator says. */
  readonly trust: CephTrust
  /** Whether Ceph calls itself HEALTH_OK or HEALTH_WARN. */
  observeHealth(ceph: CephCommands, signal: AbortSignal): Promise<Observed<boolean>>
}

/** One snapshot of a cluster without Ceph and ledger, and what is needed to act on it. */
export interface ObservedUpdate {
  readonly snapshot: Omit<OsdUpdateSnapshot, 'ceph' | 'arbiter'>
  readonly deployments: ReadonlyMap<number, Deployment>
  /** Beside Rook: the pods that are to be restarted. */
  readonly oldPods: ReadonlyMap<number, readonly Pod[]>
  readonly problems: readonly string[]
  /** When to reconcile again at the latest although nothing changes: a restart is asked for a time that lies ahead. */
  readonly wakeAfterSeconds?: number
}

/** Takes snapshots of clusters, and remembers what makes the next one cheaper. */
export class OsdUpdateObserver {
  readonly #ports: UpdateObserverPorts
  /** By cluster: the latest start of an OSD after which Ceph's map was read. */
  readonly #lastStarts = new Map<string, number>()
  readonly #lastGood = new Map<string, UpdateSettings>()
  /** Uids of pods that were asked to go: until that is seen they look as if nothing had happened. */
  readonly #leaving = new Set<string>()
  readonly #held: HeldPods
  readonly #older: OlderClusters
  readonly #ways: RestartWays

  constructor(ports: UpdateObserverPorts) {
    this.#ports = ports
    this.#held = new HeldPods(ports.clock)
    this.#older = new OlderClusters(ports.clock)
    this.#ways = new RestartWays({ ...ports, budgets: ports.views.budgets })
  }

  forget(key: string): void {
    this.#ports.ceph.reader.forget(key)
    this.#lastStarts.delete(key)
    this.#lastGood.delete(key)
    this.#older.forget(key)
  }

  noteLeaving(uid: string): void {
    this.#leaving.add(uid)
  }

  noteStaying(uid: string): void {
    this.#leaving.delete(uid)
  }

  /** Somebody refused to let the pod go. */
  noteHeld(uid: string, why: string): void {
    this.#held.note(uid, why)
  }

  /** How pods of one OSD may be removed, by the budgets as the API server has them now. */
  async readRestartWays(cluster: CephCluster, signal: AbortSignal): Promise<(pods: readonly Pod[]) => RestartWay> {
    const around = await this.#ways.read(cluster, signal)
    return (pods) => wayOfPods(around, pods)
  }

  /** Whether a budget has changed so that restarts beside Rook may go on. */
  isRelevantBudgetChange(cluster: CephCluster, change: Parameters<RestartWays['isRelevant']>[1]): boolean {
    return isBesideRook(this.#modeOf(cluster).mode) && this.#ways.isRelevant(cluster, change)
  }

  generationOf(cluster: CephCluster): number {
    // A restart is asked for by an annotation, which leaves the generation as it is; beside Rook nothing else is ours.
    const asked = restartGeneration(cluster)
    const { mode } = this.#modeOf(cluster)
    return mode === 'plan' || mode === 'contested' ? asked : asked + (cluster.metadata.generation ?? 0)
  }

  readStored(cluster: CephCluster, signal: AbortSignal): Promise<StoredUpdate> {
    const { namespace = '', name } = cluster.metadata
    return readUpdate(this.#ports.api, { namespace, name, generation: this.generationOf(cluster) }, signal)
  }

  /** What Kubernetes says. Nothing is asked: everything comes from views and from what was read before. */
  observe(
    key: string,
    cluster: CephCluster,
    { stored, rook }: { readonly stored: StoredUpdate; readonly rook?: RookPass },
  ): ObservedUpdate {
    const { views, clock } = this.#ports
    const { namespace = '', name, uid = '' } = cluster.metadata
    const { mode, problems: said } = this.#modeOf(cluster)
    // Whole, as it is written down: clocks may count finer.
    const nowMs = Math.floor(clock.now())
    const restart = parseRestartRequest(cluster, nowMs)
    const deployments = views.osdDeployments.byIndex('namespace', namespace)
    const pods = [...views.osdPods.list()].filter(({ metadata }) => metadata.namespace === namespace)
    const besideRook = isBesideRook(mode)
    const isClosed = (node: string) => views.nodes.get({ name: node })?.closing !== undefined
    const parsed = parseUpdateObjects({
      deployments,
      pods,
      cluster,
      isBesideRook: besideRook,
      restartAskedMs: restart.dueMs,
      nodeOf: (hostname) => soleNode(hostname, views.nodes.byIndex('hostname', hostname)),
    })
    const byOsd = new Map(deployments.map((deployment) => [idOf(deployment), deployment]))
    const known = parsed.osds.map((osd) => {
      const deployment = byOsd.get(osd.id)
      return deployment === undefined ? osd : { ...osd, pace: osdPaceOf(deployment, cluster) }
    })
    const walk =
      mode === 'pace' && stored.problem === undefined
        ? this.#observePace(cluster, { stored, rook, deployments, osds: known })
        : undefined
    const isWalking = walk?.isWalking === true
    const oldPods = besideRook && !isWalking ? podsBefore(pods, restart.dueMs) : new Map<number, Pod[]>()
    const leaving = this.#stillSeen(pods)
    const around = oldPods.size === 0 ? undefined : this.#ways.observe(cluster)
    const settings = parseUpdateSettings(cluster, this.#lastGood.get(key))
    if (settings.problems.length === 0) this.#lastGood.set(key, settings.settings)
    const neverBegun = mode === 'pace' ? noOsds : untouchedOf(stored.record.pace, known)
    const osds = known.map((osd) => {
      if (mode === 'off') return { ...osd, needsUpdate: false }
      if (!besideRook) return osd
      const old = oldPods.get(osd.id) ?? []
      const note = neverBegun.has(osd.id) ? undefined : stored.starts.get(osd.id)
      const seen = restartedOsd(osd, { old, leaving, note })
      // Who is left alone is named also when nothing else is left to do.
      const isPaced = isWalking || osd.leftAlone !== undefined
      if (walk !== undefined && isPaced) return pacedOsd(seen, { pace: walk.pace, noteMs: note?.atMs, nowMs })
      return around === undefined || !seen.needsUpdate ? seen : { ...seen, ...this.#hindrance(around, old) }
    })
    const updated: UpdatedCluster = {
      namespace,
      name,
      uid,
      generation: this.generationOf(cluster),
      objectGeneration: cluster.metadata.generation ?? 0,
      isBeingDeleted: cluster.metadata.deletionTimestamp !== undefined,
      mode,
      // Rook reads labels once in a pass, so a round ends before the next begins.
      settings: isWalking ? { ...settings.settings, pace: 'barrier' } : settings.settings,
      isUpgrade: (mode === 'own' || isWalking) && parsed.isUpgrade,
      ...(parsed.isUpgrade && { daemonsBehind: daemonsBehind(views.daemons.byIndex('namespace', namespace), cluster) }),
    }
    return {
      snapshot: {
        nowMs,
        cluster: updated,
        osds,
        cordonedNodes: cordonedNodes({ pods, record: stored.record, isClosed }),
        record: stored.record,
        ...(walk && { pace: walk.pace, isWalking, rookOperator: walk.rookOperator }),
        ...(rook !== undefined && { rook }),
        ...(stored.problem !== undefined && { recordProblem: stored.problem }),
        ...(this.#isOutdated(key, cluster, stored) && { isOutdated: true }),
      },
      deployments: byOsd,
      oldPods,
      problems: [
        ...said,
        ...parsed.problems.map(({ object, problem }) => `${object} ${problem}`),
        ...settings.problems.map(({ field, problem }) => `${field}: ${problem}`),
        // Beside Rook they are Rook's, and may have to stand where its version wants them.
        ...(mode === 'own' ? settings.deprecated : []).map(
          ({ field, instead }) => `${field} is deprecated: use ${instead}`,
        ),
        ...(restart.problem === undefined || mode === 'off' ? [] : [restart.problem]),
        ...(mode === 'off' ? [] : ignoredPoolProblems(parseDisruptionSettings(cluster).ignoredPools, undefined)).map(
          ({ object, problem }) => `${object} ${problem}`,
        ),
      ],
      ...(restart.waitMs !== undefined && { wakeAfterSeconds: Math.ceil(restart.waitMs / 1_000) }),
    }
  }

  /** The API server has fallen behind what is on record, as far as can be told. */
  #isOutdated(key: string, { metadata }: CephCluster, { record }: StoredUpdate): boolean {
    if (isWrittenForLater(record, metadata)) return isLaterToCome(this.#older.olderForMs(key, metadata))
    this.#older.forget(key)
    return false
  }

  /**
   * What Ceph says. Whoever decides on it reads Kubernetes again after it.
   *
   * Guarantees: the reading of the map began after every start of an OSD that was seen, for what Ceph said before a start says nothing of
   * who is back; no map is used for two decisions; where another controller had a map read within the last second, and nothing
   * of the cluster has changed since, that one is used.
   */
  async askCeph(
    key: string,
    cluster: CephCluster,
    { observed, stored }: { readonly observed: ObservedUpdate; readonly stored: StoredUpdate },
    signal: AbortSignal,
  ): Promise<Observed<CephForUpdate>> {
    const { ceph, observeHealth } = this.#ports
    const commands = this.commandsOf(cluster)
    if (commands === undefined) return unknown('no way to reach this Ceph is known')
    const { pgHealthyRegex, ignoredPools } = parseDisruptionSettings(cluster)
    const wanted = ceph.compilePgPattern(pgHealthyRegex)
    const pattern = wanted.known ? wanted : ceph.compilePgPattern(undefined)
    const isHealthyState = pattern.known ? pattern.value : () => false
    const marks = new Map(observed.snapshot.osds.map(({ id, startedMs }) => [id, startedMs]))
    const lastStart = Math.max(0, ...[...marks.values()].map((startedMs) => startedMs ?? 0))
    const pace = lastStart === this.#lastStarts.get(key) ? 'unsettled' : 'anew'
    const [answer, health] = await Promise.all([
      ceph.reader.poll({ key, asker: 'osd-update', ceph: commands, accepts: { pace }, isHealthyState, signal }),
      observeHealth(commands, signal),
    ])
    // A reading that was broken off or failed is owed still.
    if (answer.map.known) this.#lastStarts.set(key, lastStart)
    const whole = ofSameCluster(answer.map, cluster)
    if (!whole.known) return whole
    const map = { value: countedMap(whole.value, ignoredPools) }
    if (!health.known) return health
    const stoppedIn = stopEpochs(stored.starts, observed.snapshot)
    const peered = peeredOsds(map.value, stoppedIn, [...marks.keys()])
    const pgs = pgHealth(map.value, isHealthyState)
    return known({
      map: map.value,
      isHealthy: health.value,
      isClean: pgs.health === 'unknown' ? unknown(pgs.why) : known(pgs.health === 'clean'),
      isAtRest: pgs.health === 'unclean' && Object.keys(pgs.dirtyStates).every(hasNothingToWaitFor),
      peered,
    })
  }

  commandsOf({ metadata }: CephCluster): CephCommands | undefined {
    return this.#ports.ceph.of({ namespace: metadata.namespace ?? '', name: metadata.name })
  }

  #modeOf(cluster: CephCluster): UpdateMode {
    const { trust, rook } = this.#ports
    return updateModeOf(cluster, { trust, rookRuns: rook.isContested(cluster) })
  }

  #observePace(
    cluster: CephCluster,
    given: {
      readonly stored: StoredUpdate
      readonly rook: RookPass | undefined
      readonly deployments: readonly Deployment[]
      readonly osds: readonly UpdatableOsd[]
    },
  ) {
    const { stored, rook, deployments, osds } = given
    const rookOperator = rookOperatorOf(cluster, this.#ports.rook.operators.list(), deployments)
    const before = stored.record.pace
    const pace = currentPace(before, { key: paceKey(cluster, rookOperator, before), osds, rook })
    if (pace === undefined) return undefined
    const record = recordOfGeneration({ cluster: { generation: this.generationOf(cluster) }, record: stored.record })
    return { pace, rookOperator, isWalking: isWalkDue(pace, osds, record) }
  }

  #hindrance(around: RestartSurroundings, pods: readonly Pod[]): Pick<UpdatableOsd, 'held' | 'takesFrom'> {
    const refused = pods.map(({ metadata }) => this.#held.whyHeld(metadata.uid ?? '')).find((why) => why !== undefined)
    if (refused !== undefined) return { held: refused }
    const way = wayOfPods(around, pods)
    if (way.way === 'wait') return { held: way.why }
    return way.way === 'evict' && way.within !== undefined ? { takesFrom: way.within } : {}
  }

  #stillSeen(pods: readonly Pod[]): ReadonlySet<string> {
    if (this.#leaving.size === 0) return this.#leaving
    return new Set(pods.map(({ metadata }) => metadata.uid ?? '').filter((uid) => this.#leaving.has(uid)))
  }
}

const noOsds: ReadonlySet<number> = new Set()

/** OSDs that were open when the pace ended, and that Rook has not touched: nothing of them is awaited. */
function untouchedOf(pace: PaceState | undefined, osds: readonly UpdatableOsd[]): ReadonlySet<number> {
  const byId = new Map(osds.map((osd) => [osd.id, osd]))
  const untouched = (pace?.open ?? []).filter((opened) => {
    const osd = byId.get(opened.osd)
    return osd !== undefined && !isTouched(osd, opened)
  })
  return new Set(untouched.map(({ osd }) => osd))
}

function hasNothingToWaitFor(state: string): boolean {
  return isStandingStill(state) && !state.split('+').includes('undersized')
}

/** An OSD that Rook writes: what we did to it is on record with us, and counts once the old pod is going. */
function restartedOsd(
  osd: UpdatableOsd,
  given: {
    readonly old: readonly Pod[]
    readonly leaving: ReadonlySet<string>
    readonly note: StartNote | undefined
  },
): UpdatableOsd {
  const { startedMs: _, ...unmarked } = osd
  const isLeaving = given.old.some(({ metadata }) => given.leaving.has(metadata.uid ?? ''))
  if (given.note === undefined || (osd.needsUpdate && !isLeaving)) return unmarked
  const started = { ...unmarked, startedMs: given.note.atMs }
  return isLeaving ? { ...started, needsUpdate: false, isPodReady: false } : started
}

function podsBefore(pods: readonly Pod[], askedMs: number | undefined): Map<number, Pod[]> {
  const byOsd = new Map<number, Pod[]>()
  for (const pod of pods) {
    if (!isPodBefore(pod, askedMs)) continue
    const id = idOf(pod)
    byOsd.set(id, [...(byOsd.get(id) ?? []), pod])
  }
  return byOsd
}

function idOf({ metadata }: Deployment | Pod): number {
  return Number(metadata.labels?.['ceph-osd-id'] ?? metadata.labels?.['osd'] ?? Number.NaN)
}
