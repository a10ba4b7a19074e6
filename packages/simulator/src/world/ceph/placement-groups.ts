import type { CephTimings } from './ceph-description.ts'
import type { OsdMap } from './osd-map.ts'
import { PgReports } from './pg-reports.ts'
import { mix, placeShards } from './place-shards.ts'
import {
  chooseActing,
  conditionOfGroup,
  holderKey,
  isReadable,
  isRemapped,
  osdOfHolder,
  type PlacementGroup,
  type Pool,
  primaryOf,
  realMembers,
  stateOfGroup,
  stillActing,
  upOf,
} from './placement-group.ts'
import { RecoveryQueue } from './recovery-queue.ts'
import type { Timers } from './timers.ts'
import { type UpmapPair, upmapped } from './upmap.ts'

const objectsPerGroup = 128
/** Even a copy that lacks little takes its time: peers are asked, reservations made. In whole placement groups. */
const leastWork = 0.5
/** How often the mgr sees whether two groups may be merged. */
const mergeMs = 1_000

/** All placement groups: they peer when the map changes, serve with what is up, and recover what was missed. */
export class PlacementGroups {
  readonly #list: PlacementGroup[]
  readonly reports: PgReports
  readonly recovery: RecoveryQueue
  readonly #timers: Timers
  readonly #map: OsdMap
  readonly #timings: CephTimings
  readonly #isUp: (osd: number) => boolean
  readonly #peeringEndsMs = new Map<PlacementGroup, number>()
  /** Groups that are served from elsewhere than CRUSH wants: `pg_temp` of the map. */
  readonly #served = new Map<PlacementGroup, string>()
  /** By id of the group. */
  readonly #upmaps = new Map<string, readonly UpmapPair[]>()

  constructor(ports: { timers: Timers; map: OsdMap; pools: readonly Pool[]; timings: CephTimings }) {
    const { timers, map, pools, timings } = ports
    this.#timers = timers
    this.#map = map
    this.#timings = timings
    this.#isUp = (osd) => map.isUp(osd)
    this.recovery = new RecoveryQueue({
      timers,
      rate: timings.recoveryPgsPerSecond,
      mayRun: (group) => this.#mayRecover(group),
      onStart: (group) => this.#begin(group),
      onDone: (group) => this.#finish(group),
    })
    this.reports = new PgReports({
      timers,
      map,
      periodMs: timings.statsPeriodMs,
      tickMs: timings.mgrTickMs,
      progress: (group) => this.recovery.progress(group),
    })
    this.#list = pools.flatMap((pool) => this.#createAll(pool))
  }

  get list(): readonly PlacementGroup[] {
    return this.#list
  }

  /** Groups whose acting set is not what CRUSH says, as the map's `pg_temp` lists them. */
  get remapped(): readonly PlacementGroup[] {
    return [...this.#served.keys()]
  }

  /** The cluster was whole before the start: what is up serves at once, and the mgr has heard of it. */
  begin(): void {
    for (const group of this.list) group.up = upOf(group, this.#isUp)
    this.#activate(this.list)
    for (const group of this.list) this.reports.take(group)
  }

  /** Follows a new map in which one OSD went up, down, in or out. */
  follow(osd: number, change: 'up' | 'down' | 'in' | 'out'): void {
    const moved = change === 'in' || change === 'out'
    const affected: PlacementGroup[] = []
    for (const group of this.list) {
      if (moved) group.wanted = this.#place(group)
      const up = upOf(group, this.#isUp)
      const isElsewhere = !isSameList(up, group.up)
      if (isElsewhere || (change === 'down' && group.acting.includes(osd))) affected.push(group)
      else if ((change === 'up' || change === 'in') && !group.up.includes(osd) && hasCopyOn(group, osd))
        this.#meetStray(group, osd, affected)
    }
    this.#peer(affected, { isPrimed: moved })
    this.recovery.start()
  }

  /** The groups of a pool that did not exist before; they hold nothing yet that could be missing. */
  addPool(pool: Pool): void {
    const groups = this.#createAll(pool)
    this.#list.push(...groups)
    this.#peer(groups)
  }

  /** A pool has another floor: its groups find together anew. */
  followPool(pool: Pool): void {
    this.#peer(this.#list.filter((group) => group.pool === pool))
  }

  /** A pool is to have more groups, which come of those it has and are in their places at first, or fewer. */
  followCount(pool: Pool): void {
    const present = this.#list.filter((group) => group.pool === pool)
    const born: PlacementGroup[] = []
    for (let number = present.length; number < pool.pgCount; number += 1) {
      const group = this.#create(pool, number)
      const parent = [...present, ...born][parentOf(number)] as PlacementGroup
      group.acting = parent.acting
      group.holders.clear()
      for (const [key, missing] of parent.holders) group.holders.set(key, missing)
      born.push(group)
    }
    this.#list.push(...born)
    this.#peer(born, { isPrimed: true })
    this.recovery.start()
    this.#mergeNext(pool)
  }

  /** The last group goes into the one that it came of, as soon as both are clean; then the one before it. */
  #mergeNext(pool: Pool): void {
    if (pool.pgTarget === undefined || pool.pgCount <= pool.pgTarget) return
    this.#timers.after(mergeMs, () => {
      const present = this.#list.filter((group) => group.pool === pool)
      const [last, parent] = [present.at(-1), present[parentOf(present.length - 1)]]
      if (last === undefined || parent === undefined || pool.pgCount <= (pool.pgTarget ?? pool.pgCount)) return
      if (last.state === 'active+clean' && parent.state === 'active+clean') {
        this.#list.splice(this.#list.indexOf(last), 1)
        this.#peeringEndsMs.delete(last)
        this.#served.delete(last)
        this.reports.drop(last)
        pool.pgCount -= 1
        this.#map.bump()
        this.#peer([parent])
      }
      this.#mergeNext(pool)
    })
  }

  /** Has a group elsewhere than CRUSH has it: one OSD in place of another, by `pg_upmap_items`. Undefined: as CRUSH has it. */
  setUpmap(group: PlacementGroup, pairs: readonly UpmapPair[] | undefined): void {
    if (pairs === undefined) this.#upmaps.delete(group.id)
    else this.#upmaps.set(group.id, pairs)
    group.wanted = this.#place(group)
    this.#peer([group], { isPrimed: true })
    this.recovery.start()
  }

  get upmaps(): ReadonlyMap<string, readonly UpmapPair[]> {
    return this.#upmaps
  }

  /** CRUSH wants groups elsewhere: those of one pool, or all where the tree itself has changed. */
  followCrush(pool?: Pool): void {
    const affected = this.#list.filter((group) => pool === undefined || group.pool === pool)
    for (const group of affected) group.wanted = this.#place(group)
    this.#peer(affected, { isPrimed: true })
    this.recovery.start()
  }

  #meetStray(group: PlacementGroup, osd: number, affected: PlacementGroup[]): void {
    if (group.state === 'active+clean') dropCopies(group, (key) => osdOfHolder(key) === osd)
    else affected.push(group)
  }

  #createAll(pool: Pool): PlacementGroup[] {
    return Array.from({ length: pool.pgCount }, (_, number) => this.#create(pool, number))
  }

  #create(pool: Pool, number: number): PlacementGroup {
    const group: PlacementGroup = {
      id: `${pool.id}.${number.toString(16)}`,
      pool,
      number,
      seed: mix(pool.id, number, 1),
      objects: objectsPerGroup,
      wanted: [],
      up: [],
      acting: [],
      holders: new Map(),
      isPeering: false,
      state: '',
      work: undefined,
      mappingEpoch: this.#map.epoch,
      writesCountedMs: this.#timers.now(),
    }
    group.wanted = this.#place(group)
    group.wanted.forEach((osd, shard) => {
      if (this.#map.tree.byId.has(osd)) group.holders.set(holderKey(group, osd, shard), 0)
    })
    return group
  }

  #place({ id, pool, seed }: PlacementGroup): number[] {
    const { tree } = this.#map
    const isOut = (osd: number) => !this.#map.isIn(osd)
    const placed = placeShards({ tree, rule: pool.rule, width: pool.size, seed, isOut })
    return upmapped(placed, this.#upmaps.get(id) ?? [], { tree, rule: pool.rule, isOut })
  }

  /**
   * Primed: CRUSH wants the groups elsewhere, and with that very map the mons let those go on that serve them, by `pg_temp`. Without it
   * a group would be in the hands of OSDs that have nothing of it yet, or are not even up, until it has peered.
   */
  #peer(groups: readonly PlacementGroup[], { isPrimed = false } = {}): void {
    const endsMs = this.#timers.now() + this.#timings.peeringMs
    for (const group of groups) {
      this.#countWrites(group)
      this.#interrupt(group)
      const wasRemapped = isRemapped(group)
      group.up = upOf(group, this.#isUp)
      const served = isPrimed ? stillActing(group, this.#isUp) : []
      if (realMembers(served).length >= group.pool.minSize) group.acting = served
      else group.acting = wasRemapped ? chooseActing(group, this.#isUp) : group.up
      group.isPeering = true
      group.mappingEpoch = this.#map.epoch
      this.#peeringEndsMs.set(group, endsMs)
      this.#settle(group)
    }
    // Priming is part of the map that moved the groups.
    if (isPrimed) this.#setServed(groups)
    if (groups.length === 0) return
    this.#timers.after(this.#timings.peeringMs, () => {
      this.#activate(groups.filter((group) => group.isPeering && this.#peeringEndsMs.get(group) === endsMs))
    })
  }

  #activate(groups: readonly PlacementGroup[]): void {
    for (const group of groups) {
      group.isPeering = false
      this.#peeringEndsMs.delete(group)
      group.acting = chooseActing(group, this.#isUp)
      group.writesCountedMs = this.#timers.now()
      this.#plan(group)
    }
    this.#noteServed(groups)
    for (const group of groups) {
      this.#map.noteUpThru(primaryOf(group.acting))
      this.#settle(group)
    }
    this.recovery.start()
  }

  #plan(group: PlacementGroup): void {
    group.work = undefined
    if (!isReadable(group, this.#isUp)) return
    const { needs, degraded } = conditionOfGroup(group)
    if (needs === undefined) {
      const needed = keysOf(group, group.up)
      if (!isRemapped(group)) dropCopies(group, (key) => this.#map.isUp(osdOfHolder(key)) && !needed.has(key))
      return
    }
    group.work = { kind: needs, isRunning: false }
    this.recovery.add(group, needs === 'backfill' ? 1 : Math.min(1, Math.max(leastWork, degraded / group.objects)))
  }

  #begin(group: PlacementGroup): void {
    if (group.work !== undefined) group.work.isRunning = true
    this.#settle(group)
  }

  #finish(group: PlacementGroup): void {
    this.#countWrites(group)
    const isBackfill = group.work?.kind === 'backfill'
    for (const members of [group.up, group.acting]) {
      members.forEach((osd, shard) => {
        const key = holderKey(group, osd, shard)
        if (this.#map.tree.byId.has(osd) && (isBackfill || group.holders.has(key))) group.holders.set(key, 0)
      })
    }
    group.acting = chooseActing(group, this.#isUp)
    this.#plan(group)
    this.#noteServed([group])
    this.#settle(group)
  }

  /** What was copied so far stays copied. */
  #interrupt(group: PlacementGroup): void {
    const done = this.recovery.remove(group)
    if (group.work?.kind === 'recovery') {
      for (const osd of [...group.up, ...group.acting]) {
        for (const [key, missing] of group.holders) {
          if (osdOfHolder(key) === osd && done > 0) group.holders.set(key, missing * (1 - done))
        }
      }
    }
    group.work = undefined
  }

  /** While it serves, every copy that takes no part falls behind. */
  #countWrites(group: PlacementGroup): void {
    const now = this.#timers.now()
    const seconds = (now - group.writesCountedMs) / 1_000
    group.writesCountedMs = now
    if (!group.state.startsWith('active') || seconds <= 0) return
    const part = new Set([...keysOf(group, group.up), ...keysOf(group, group.acting)])
    for (const [key, missing] of group.holders) {
      if (part.has(key)) continue
      group.holders.set(key, Math.min(group.objects, missing + seconds * this.#timings.writesPerPgPerSecond))
    }
  }

  /** The mons learn who serves in place of whom; that is a new map. */
  #noteServed(groups: readonly PlacementGroup[]): void {
    if (this.#setServed(groups)) this.#map.bump()
  }

  #setServed(groups: readonly PlacementGroup[]): boolean {
    let changed = false
    for (const group of groups) {
      const serves = isRemapped(group) ? group.acting.join() : undefined
      if (this.#served.get(group) === serves) continue
      changed = true
      if (serves === undefined) this.#served.delete(group)
      else this.#served.set(group, serves)
    }
    return changed
  }

  #settle(group: PlacementGroup): void {
    group.state = stateOfGroup(group, this.#isUp)
    this.reports.noteChange(group)
  }

  #mayRecover(group: PlacementGroup): boolean {
    const { flags } = this.#map
    if (group.work?.kind === 'recovery') return !flags.has('norecover')
    if (flags.has('nobackfill')) return false
    return !flags.has('norebalance') || group.state.includes('degraded')
  }
}

/** The group that it came of when the pool had half as many. */
function parentOf(number: number): number {
  return number - 2 ** Math.floor(Math.log2(number))
}

function isSameList(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((value, place) => value === right[place])
}

function hasCopyOn({ holders }: PlacementGroup, osd: number): boolean {
  for (const key of holders.keys()) if (osdOfHolder(key) === osd) return true
  return false
}

/** An OSD may have had another chunk of the same group, which is not what it has now. */
function keysOf(group: PlacementGroup, members: readonly number[]): Set<number> {
  return new Set(members.map((osd, shard) => holderKey(group, osd, shard)))
}

function dropCopies({ holders }: PlacementGroup, isUnneeded: (key: number) => boolean): void {
  for (const key of holders.keys()) if (isUnneeded(key)) holders.delete(key)
}
