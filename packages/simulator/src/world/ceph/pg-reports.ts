import { noOsd } from './no-osd.ts'
import type { OsdMap } from './osd-map.ts'
import {
  conditionOfGroup,
  holderKey,
  osdOfHolder,
  type PlacementGroup,
  primaryOf,
  shardOfHolder,
} from './placement-group.ts'
import type { Timers } from './timers.ts'

/** The last report of one placement group to the mgr. */
export interface PgReport {
  readonly state: string
  readonly up: readonly number[]
  readonly acting: readonly number[]
  readonly epoch: number
  readonly sequence: number
  readonly mappingEpoch: number
  readonly atMs: number
  readonly changedMs: number
  readonly degraded: number
  readonly misplaced: number
  /** Shards that lack nothing, as Ceph writes them: `3`, or `8(0)` for chunk 0. Reported only while it is degraded. */
  readonly complete: readonly string[]
}

/** Groups are written to all the time, so one that has not changed still reports now and then. */
const refreshMs = 10_000

export interface PgReportsPorts {
  readonly timers: Timers
  readonly map: OsdMap
  /** How often each OSD reports. */
  readonly periodMs: number
  /** How often the mgr takes note of what was reported. */
  readonly tickMs: number
  /** How far the recovery of a group has come, 0 to 1. */
  readonly progress: (group: PlacementGroup) => number
}

/**
 * What the mgr knows: each primary's reports, which come a while after the change.
 *
 * Every OSD counts its periods from when it found the mgr: after a new mgr all report at the same moments, and one that was restarted since
 * at others. So of one change some groups may be reported, and others not yet.
 *
 * Guarantees: a report says how the group is when the report is made, with the epoch of that time.
 */
export class PgReports {
  readonly #ports: PgReportsPorts
  readonly #held = new Map<PlacementGroup, PgReport>()
  readonly #refreshed = new WeakMap<PgReport, PgReport>()
  /** Groups that changed, until they are reported. */
  readonly #due = new Set<PlacementGroup>()
  /** By the time of the report. */
  readonly #batches = new Map<number, PlacementGroup[]>()
  /** Reported, and not taken note of yet. */
  readonly #arrived = new Map<PlacementGroup, PgReport>()
  #cancelTick: (() => void) | undefined
  /** When the mgr began, and when OSDs found it that were restarted since. */
  #sinceMs: number
  readonly #foundMs = new Map<number, number>()

  constructor(ports: PgReportsPorts) {
    this.#ports = ports
    this.#sinceMs = ports.timers.now()
  }

  of(group: PlacementGroup): PgReport | undefined {
    const held = this.#held.get(group)
    if (held === undefined || !this.#isRefreshed(group, held)) return held
    const refreshedMs = this.#refreshedMs(group)
    const begin = this.#ports.map.epochAt(refreshedMs)
    if (refreshedMs <= held.atMs || begin === undefined || begin.epoch <= held.epoch) return held
    const shown = this.#refreshed.get(held)
    if (shown?.epoch === begin.epoch) return shown
    // Reported at the first refresh in that epoch; the later ones would say the same.
    const fromMs = Math.max(begin.atMs, held.atMs + 1)
    const atMs = refreshedMs - Math.floor((refreshedMs - fromMs) / refreshMs) * refreshMs
    const report = { ...held, epoch: begin.epoch, atMs }
    this.#refreshed.set(held, report)
    return report
  }

  /** Until when `of` says the same of this group, as far as time alone could change it. */
  sameUntilMs(group: PlacementGroup): number {
    const shown = this.of(group)
    const isBehind = shown !== undefined && this.#isRefreshed(group, shown) && shown.epoch < this.#ports.map.epoch
    return isBehind ? this.#refreshedMs(group) + refreshMs : Number.POSITIVE_INFINITY
  }

  #isRefreshed(group: PlacementGroup, { state }: PgReport): boolean {
    return !this.#due.has(group) && !this.#arrived.has(group) && state.startsWith('active')
  }

  #refreshedMs({ seed }: PlacementGroup): number {
    const now = this.#ports.timers.now()
    return now - ((now + seed) % refreshMs)
  }

  /** An OSD was started, and reports from now on. */
  noteBoot(osd: number): void {
    this.#foundMs.set(osd, this.#ports.timers.now())
  }

  /** The group has changed; its primary will report it. */
  noteChange(group: PlacementGroup): void {
    if (this.#due.has(group)) return
    const shown = this.of(group)
    if (shown !== undefined) this.#held.set(group, shown)
    const sinceMs = this.#foundMs.get(primaryOf(group.acting)) ?? this.#sinceMs
    this.#reportAt(nextTick(this.#ports.timers.now(), sinceMs, this.#ports.periodMs), group)
  }

  #reportAt(atMs: number, group: PlacementGroup): void {
    this.#due.add(group)
    const batch = this.#batches.get(atMs)
    if (batch !== undefined) {
      batch.push(group)
      return
    }
    const groups = [group]
    this.#batches.set(atMs, groups)
    this.#ports.timers.after(atMs - this.#ports.timers.now(), () => {
      this.#batches.delete(atMs)
      for (const each of groups) if (this.#due.delete(each)) this.#send(each)
    })
  }

  #send(group: PlacementGroup): void {
    const report = this.#reportOf(group)
    if (report === undefined) return
    if (this.#arrived.size === 0) {
      const { timers, tickMs } = this.#ports
      const waitMs = nextTick(timers.now(), this.#sinceMs, tickMs) - timers.now()
      this.#cancelTick = timers.after(waitMs, () => this.#takeNote())
    }
    this.#arrived.set(group, report)
    if (group.work?.isRunning) this.noteChange(group)
  }

  #takeNote(): void {
    for (const [group, report] of this.#arrived) this.#held.set(group, report)
    this.#arrived.clear()
  }

  /** The mgr knows how the group is now. */
  take(group: PlacementGroup): void {
    const report = this.#reportOf(group)
    if (report !== undefined) this.#held.set(group, report)
  }

  /** The report of now. A group without a primary has nobody to report it. */
  #reportOf(group: PlacementGroup): PgReport | undefined {
    const { map, timers, progress } = this.#ports
    const primary = primaryOf(group.acting)
    if (primary < 0 || !map.isUp(primary)) return undefined
    const before = this.#arrived.get(group) ?? this.#held.get(group)
    const { degraded, misplaced } = conditionOfGroup(group)
    const left = 1 - progress(group)
    const isDegraded = group.state.includes('degraded')
    return {
      state: group.state,
      up: group.up,
      acting: group.acting,
      epoch: map.epoch,
      sequence: (before?.sequence ?? 0) + 1,
      mappingEpoch: group.mappingEpoch,
      atMs: timers.now(),
      changedMs: before?.state === group.state ? before.changedMs : timers.now(),
      degraded: isDegraded ? Math.ceil(degraded * left) : 0,
      misplaced: Math.ceil(misplaced * left),
      complete: isDegraded ? completeShards(group, map) : [],
    }
  }

  /** The group is no more. */
  drop(group: PlacementGroup): void {
    this.#held.delete(group)
    this.#arrived.delete(group)
    this.#due.delete(group)
  }

  /** Another mgr begins with nothing: all OSDs report to it at once, and it takes note of that a tick later. */
  forget(groups: readonly PlacementGroup[]): void {
    const now = this.#ports.timers.now()
    this.#sinceMs = now
    this.#foundMs.clear()
    this.#cancelTick?.()
    this.#held.clear()
    this.#arrived.clear()
    this.#due.clear()
    for (const group of groups) this.#reportAt(now, group)
  }
}

/** The next time after now at which so many periods have passed since then. */
function nextTick(nowMs: number, sinceMs: number, periodMs: number): number {
  return sinceMs + (Math.floor((nowMs - sinceMs) / periodMs) + 1) * periodMs
}

function completeShards(group: PlacementGroup, map: OsdMap): string[] {
  if (group.pool.kind === 'replicated') {
    return [...group.holders]
      .filter(([key, missing]) => missing === 0 && map.isUp(osdOfHolder(key)))
      .map(([key]) => String(osdOfHolder(key)))
  }
  const acting = group.acting.flatMap((osd, shard) =>
    osd !== noOsd && group.holders.get(holderKey(group, osd, shard)) === 0 ? [`${osd}(${shard})`] : [],
  )
  const strays = [...group.holders]
    .filter(([key, missing]) => missing === 0 && map.isUp(osdOfHolder(key)))
    .map(([key]) => `${osdOfHolder(key)}(${shardOfHolder(key)})`)
  return [...new Set([...acting, ...strays])]
}
