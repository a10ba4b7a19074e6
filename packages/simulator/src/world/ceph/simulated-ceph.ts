import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Random, randomUid } from '@cofferdam/kubernetes/runtime/random.ts'
import type { Views } from '../actor.ts'
import { rememberAnswers } from './answer-memory.ts'
import type { CephAnswer, CephCommand, CephCommands } from './ceph-commands.ts'
import { type CephDescription, defaultTimings } from './ceph-description.ts'
import { type CephState, type SeenGroup, type SeenGroups, seeGroups } from './ceph-state.ts'
import { ClusterLog } from './cluster-log.ts'
import { createCommandAnswers } from './command-answers.ts'
import { createCrushGrowth, type NewCephOsd } from './crush-growth.ts'
import { buildCrushTree, type CrushTree } from './crush-tree.ts'
import { MgrSeat } from './mgr-seat.ts'
import { MonQuorum } from './mon-quorum.ts'
import { OsdMap } from './osd-map.ts'
import { OsdWatch } from './osd-watch.ts'
import { holderKey, type PlacementGroup, type Pool, realMembers } from './placement-group.ts'
import { PlacementGroups } from './placement-groups.ts'
import { type DaemonKind, PodShadow } from './pod-shadow.ts'
import { createTimers } from './timers.ts'

export interface SimulatedCephPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** Shared with the actors of the world; its own when absent. */
  readonly views?: Views
  /** Whether a machine has power, as `Kubelet.isOn` says. Without it a loss shows when the API shows it. */
  readonly isOn?: (node: string) => boolean
}

export interface SimulatedCeph {
  readonly commands: Required<CephCommands>
  readonly controls: CephControls
  stop(): void
}

/** What can be done to Ceph beside its own commands. */
export interface CephControls {
  /** Every mgr process dies; one is back after this time and has to hear of everything again. Default 5 s. */
  killMgr(forMs?: number): void
  /** No command is answered. */
  silence(on: boolean): void
  /**
   * As `osd new` does: the OSD exists from now on, down and out. When its pod is ready it takes its place in the CRUSH map, comes
   * in and is filled. Returns its id, the lowest free one where none is given.
   */
  addOsd(osd: NewCephOsd): number
  /** Puts the disk of an OSD into another host, where the OSD says it is when it boots next, by that name or another. It boots nowhere else. */
  moveDisk(osd: number, host: string, crushHost?: string): void
  /** A machine was replaced, with its disks: those that were moved into it go along, and keep their place in the CRUSH map. */
  disksMoved(from: string, to: string): void
  /** Where a disk is that was moved. */
  hostOfDisk(osd: number): string | undefined
  failDisk(osd: number): void
  mendDisk(osd: number): void
  /** Whole placement groups per second; 0 stops it. */
  setRecoveryRate(pgsPerSecond: number): void
  /** What `osd ok-to-stop` says whatever is true; undefined: the truth as far as the mgr knows it. */
  lieOkToStop(answer: 'yes' | 'no' | undefined): void
  /** Answers `osd ok-to-stop` as 20.2.4 does: a placement group counts only if its last member is to stop. */
  tentacleOkToStop(on: boolean): void
  /** What Ceph writes for people as things happen, and what can go wrong with it. */
  readonly log: Pick<ClusterLog, 'say' | 'breakOff' | 'followerCount'>
  /** How things are, whatever anybody has heard of them. */
  truth(): CephTruth
}

export interface CephTruth {
  readonly groups: readonly GroupTruth[]
  /** OSDs that are up and whose processes run. */
  readonly serving: ReadonlySet<number>
  /** The buckets and OSDs on which it is set, as `osd set-group` names them. */
  readonly noout: readonly string[]
}

export interface GroupTruth {
  readonly id: string
  readonly pool: string
  /** How many copies it is to have, or chunks. */
  readonly size: number
  readonly minSize: number
  readonly isPeering: boolean
  /** OSDs that serve it by the last map, which is late where a machine fell silent. */
  readonly acting: readonly number[]
  /** OSDs among these whose processes run. */
  readonly serving: readonly number[]
  /** OSDs among these whose copy lacks nothing. */
  readonly whole: readonly number[]
}

const defaultTimeoutMs = 15_000

/**
 * A Ceph whose daemons are the pods of a cluster: it follows them, places data, and answers commands as the real one does.
 *
 * Guarantees: the same clock, chance and pods give the same answers; a stopped one leaves no timer and no watch.
 */
export function createSimulatedCeph(ports: SimulatedCephPorts, description: CephDescription): SimulatedCeph {
  const { api, clock, views, isOn } = ports
  const random = ports.random.stream(`ceph ${description.namespace}/${description.clusterName}`)
  const timings = { ...defaultTimings, ...description.timings }
  /** Counts all that can change an answer, but for time that passes: timers, pods, commands and controls. */
  let changes = 0
  const changed = () => {
    changes += 1
  }
  const timers = createTimers(clock, changed)
  const abort = new AbortController()
  const tree = buildCrushTree(description.crush, description.pools)
  const pools = describePools(description, tree)
  const map = new OsdMap({ clock, random, tree, fsid: description.fsid ?? randomUid(random) })
  const growth = createCrushGrowth(map, description)
  const groups = new PlacementGroups({ timers, map, pools, timings })
  let hasBegun = false
  let isSilenced = false
  /** What the mons got from a mgr that has gone since. */
  let lastSeen: readonly SeenGroup[] = groups.list.map((group) => ({ group, report: undefined, state: 'unknown' }))
  let sight: (SeenGroups & { readonly changes: number }) | undefined
  const observeNow = () => seeGroups({ map, groups, now: () => clock.now() }, sight?.list)
  function seeNow(): readonly SeenGroup[] {
    if (sight?.changes !== changes || clock.now() >= sight.untilMs) sight = { ...observeNow(), changes }
    return sight.list
  }

  const shadow = new PodShadow({
    api,
    clock,
    ...(views === undefined ? {} : { views }),
    ...(isOn === undefined ? {} : { isOn }),
    namespace: description.namespace,
    onReady: () => begin(),
    onChange: (kind, id) => {
      if (hasBegun) follow(kind, id)
      changed()
    },
  })
  const mons = new MonQuorum({
    clock,
    known: description.mons ?? [],
    isAlive: (mon) => shadow.sightOf('mon', mon).isAlive,
  })
  const mgr = new MgrSeat({
    timers,
    startMs: timings.startMs,
    failoverMs: timings.downAfterMs,
    aliveMgrs: () => shadow.idsOf('mgr').filter((id) => shadow.sightOf('mgr', id).isAlive),
    onLost: () => {
      lastSeen = observeNow().list
    },
    onTaken: () => groups.reports.forget(groups.list),
  })
  const osdWatch = new OsdWatch({
    timers,
    map,
    timings,
    downOutSubtreeLimit: description.downOutSubtreeLimit ?? 'rack',
    sightOf: (osd) => shadow.sightOf('osd', String(osd)),
    hasQuorum: () => mons.hasQuorum,
    locate: (osd) => growth.locate(osd),
    onChange: (osd, change) => {
      if (!hasBegun) return
      logChange(osd, change)
      if (change === 'up' || change === 'in') groups.reports.noteBoot(osd)
      groups.follow(osd, change)
    },
  })
  const log = new ClusterLog({ mayTell: () => hasBegun && !isSilenced && mons.hasQuorum })
  /** As the mons do: the OSD at once, and a second later how many are down. */
  function logChange(osd: number, change: 'up' | 'down' | 'in' | 'out'): void {
    if (change === 'out') log.write('INF', `Marking osd.${osd} out (has been down for 600 seconds)`)
    if (change === 'up' || change === 'in') log.write('INF', `osd.${osd} boot`)
    if (change !== 'down') return
    log.write('INF', `osd.${osd} failed (2 reporters from different host after 20.0 >= grace 20.0)`)
    timers.after(1_000, () => {
      const down = [...map.osds.values()].filter(({ isUp }) => !isUp).length
      log.write('WRN', `Health check failed: ${down} osds down (OSD_DOWN)`)
    })
  }
  const state: CephState = {
    description,
    map,
    pools,
    groups,
    mons,
    mgr,
    now: () => clock.now(),
    sightOfMon: (mon) => shadow.sightOf('mon', mon),
    seen: () => (mgr.active === undefined ? lastSeen : seeNow()),
    okToStop: { lie: undefined, isTentacle: false },
  }
  const answers = createCommandAnswers(state, {
    moved: (osd, change) => groups.follow(osd, change),
    poolChanged(pool, change) {
      if (change === 'made') groups.addPool(pool)
      else if (change === 'floor') groups.followPool(pool)
      else if (change === 'count') groups.followCount(pool)
      else groups.followCrush(pool)
    },
    relocated(osd, location) {
      growth.move(osd, location)
      groups.followCrush()
    },
    flagsChanged() {
      osdWatch.checkAll()
      groups.recovery.start()
    },
  })
  const answer = rememberAnswers(state, { changes: () => changes, changed, answer: answers.answer })

  function begin(): void {
    for (const mon of shadow.idsOf('mon')) mons.refresh(mon, description.mons === undefined)
    mgr.begin()
    osdWatch.begin()
    groups.begin()
    hasBegun = true
    for (const { id, isNew } of map.osds.values()) if (isNew) osdWatch.check(id)
    changed()
  }

  function follow(kind: DaemonKind, id: string): void {
    if (kind === 'osd') osdWatch.check(Number(id))
    else if (kind === 'mgr') mgr.refresh()
    else if (mons.refresh(id, description.mons === undefined)) osdWatch.checkAll()
  }

  function mayAnswer(command: CephCommand): boolean {
    if (!hasBegun || isSilenced || !mons.hasQuorum) return false
    return mgr.active !== undefined || !answers.needsMgr(command)
  }

  const isServing = (osd: number) => map.isUp(osd) && shadow.sightOf('osd', String(osd)).isAlive

  shadow.start()
  return {
    commands: {
      run: (command, options) =>
        waitForAnswer(command, {
          clock,
          timeoutMs: options?.timeoutMs ?? defaultTimeoutMs,
          signals: [abort.signal, ...(options?.signal === undefined ? [] : [options.signal])],
          tryAnswer: () => (mayAnswer(command) ? answer(command) : undefined),
        }),
      followLog: (follow) => log.follow(follow),
    },
    controls: {
      killMgr(forMs = 5_000) {
        mgr.kill(forMs)
        changed()
      },
      silence(on) {
        isSilenced = on
      },
      addOsd(osd) {
        const id = growth.add(osd)
        if (hasBegun) osdWatch.check(id)
        changed()
        return id
      },
      moveDisk(osd, host, crushHost = host) {
        growth.rehome(osd, { host: crushHost })
        osdWatch.setDiskHost(osd, host)
      },
      disksMoved(from, to) {
        for (const id of map.osds.keys()) if (osdWatch.hostOfDisk(id) === from) osdWatch.setDiskHost(id, to)
      },
      hostOfDisk: (osd) => osdWatch.hostOfDisk(osd),
      failDisk: (osd) => osdWatch.setDiskFailed(osd, true),
      mendDisk: (osd) => osdWatch.setDiskFailed(osd, false),
      setRecoveryRate(rate) {
        groups.recovery.setRate(rate)
        changed()
      },
      lieOkToStop(lie) {
        state.okToStop.lie = lie
      },
      tentacleOkToStop(on) {
        state.okToStop.isTentacle = on
        changed()
      },
      log,
      truth() {
        const serving = new Set([...map.osds.keys()].filter(isServing))
        return { serving, groups: groups.list.map((group) => truthOf(group, serving)), noout: nooutOf(map) }
      },
    },
    stop() {
      abort.abort()
      shadow.stop()
      timers.stop()
      log.forget()
    },
  }
}

function nooutOf({ bucketFlags, osds }: OsdMap): string[] {
  const buckets = [...bucketFlags].filter(([, flags]) => flags.has('noout')).map(([bucket]) => bucket)
  const marked = [...osds].filter(([, { flags }]) => flags.has('noout')).map(([id]) => `osd.${id}`)
  return [...buckets, ...marked]
}

function truthOf(group: PlacementGroup, serving: ReadonlySet<number>): GroupTruth {
  const { id, pool, isPeering, acting, holders } = group
  const members = acting.map((osd, shard) => ({ osd, isWhole: holders.get(holderKey(group, osd, shard)) === 0 }))
  const alive = members.filter(({ osd }) => serving.has(osd))
  return {
    id,
    pool: pool.name,
    size: pool.size,
    minSize: pool.minSize,
    isPeering,
    acting: realMembers(acting),
    serving: alive.map(({ osd }) => osd),
    whole: alive.filter(({ isWhole }) => isWhole).map(({ osd }) => osd),
  }
}

function describePools(description: CephDescription, tree: CrushTree): Pool[] {
  return description.pools.map((pool, index) => {
    const rule = tree.rules[index + 1]
    if (rule === undefined) throw new RangeError(`pool "${pool.name}" has no rule`)
    const readable = pool.kind === 'replicated' ? 1 : (pool.k ?? pool.size - (pool.m ?? 1))
    return { ...pool, id: index + 1, rule, readable }
  })
}

const retryMs = 100

/** Ceph's own clients wait for a mon (or mgr) that can answer, until their patience ends. */
async function waitForAnswer(
  command: CephCommand,
  wait: {
    readonly clock: Clock
    readonly timeoutMs: number
    readonly signals: readonly AbortSignal[]
    readonly tryAnswer: () => CephAnswer | undefined
  },
): Promise<CephAnswer> {
  const { clock, timeoutMs, tryAnswer } = wait
  const endMs = clock.now() + timeoutMs
  let either: AbortSignal | undefined
  while (!wait.signals.some((signal) => signal.aborted)) {
    const answer = tryAnswer()
    if (answer !== undefined) return answer
    const leftMs = endMs - clock.now()
    if (leftMs <= 0) break
    // Most are answered at once, and need no signal of their own.
    either ??= AbortSignal.any([...wait.signals])
    await sleep(clock, Math.min(retryMs, leftMs), either)
  }
  throw new CofferdamError('CEPH_UNREACHABLE', `Ceph did not answer "${command.prefix}" within ${timeoutMs} ms`, {
    facts: { command: command.prefix, timeoutMs },
  })
}
