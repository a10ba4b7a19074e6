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

interface Batch {
  readonly atMs: number
  readonly groups: PlacementGroup[]
}

/** Groups are written to all the time, so one that has not changed still reports now and then. */
const refreshMs = 10_000

/**
 * What the mgr knows: each primary's reports, which come a while after the change.
 *
 * Guarantees: a report says how the group is when the report is made, with the epoch of that time.
 */
export class PgReports {
  readonly #timers: Timers
  readonly #map: OsdMap
  readonly #lagMs: number
  readonly #progress: (group: PlacementGroup) => number
  readonly #held = new Map<PlacementGroup, PgReport>()
  readonly #refreshed = new WeakMap<PgReport, PgReport>()
  /** Groups that changed, each in the batch of the time of its change. */
  readonly #due = new Map<PlacementGroup, Batch>()
  #batch: Batch | undefined

  constructor(ports: {
    timers: Timers
    map: OsdMap
    lagMs: number
    /** How far the recovery of a group has come, 0 to 1. */
    progress: (group: PlacementGroup) => number
  }) {
    this.#timers = ports.timers
    this.#map = ports.map
    this.#lagMs = ports.lagMs
    this.#progress = ports.progress
  }

  of(group: PlacementGroup): PgReport | undefined {
    const held = this.#held.get(group)
    if (held === undefined || !this.#isRefreshed(group, held)) return held
    const refreshedMs = this.#refreshedMs(group)
    const begin = this.#map.epochAt(refreshedMs)
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
    const isBehind = shown !== undefined && this.#isRefreshed(group, shown) && shown.epoch < this.#map.epoch
    return isBehind ? this.#refreshedMs(group) + refreshMs : Number.POSITIVE_INFINITY
  }

  #isRefreshed(group: PlacementGroup, { state }: PgReport): boolean {
    return !this.#due.has(group) && state.startsWith('active')
  }

  #refreshedMs({ seed }: PlacementGroup): number {
    const now = this.#timers.now()
    return now - ((now + seed) % refreshMs)
  }

  /** The group has changed; its primary will report it. */
  noteChange(group: PlacementGroup): void {
    if (this.#due.has(group)) return
    const now = this.#timers.now()
    if (this.#batch?.atMs !== now) this.#batch = this.#openBatch(now)
    this.#batch.groups.push(group)
    this.#due.set(group, this.#batch)
  }

  #openBatch(atMs: number): Batch {
    const batch: Batch = { atMs, groups: [] }
    this.#timers.after(this.#lagMs, () => {
      for (const group of batch.groups) if (this.#due.get(group) === batch) this.take(group)
    })
    return batch
  }

  /** The report of now. A group without a primary has nobody to report it. */
  take(group: PlacementGroup): void {
    this.#due.delete(group)
    const primary = primaryOf(group.acting)
    if (primary < 0 || !this.#map.isUp(primary)) return
    const before = this.#held.get(group)
    const { degraded, misplaced } = conditionOfGroup(group)
    const left = 1 - this.#progress(group)
    const isDegraded = group.state.includes('degraded')
    this.#held.set(group, {
      state: group.state,
      up: group.up,
      acting: group.acting,
      epoch: this.#map.epoch,
      sequence: (before?.sequence ?? 0) + 1,
      mappingEpoch: group.mappingEpoch,
      atMs: this.#timers.now(),
      changedMs: before?.state === group.state ? before.changedMs : this.#timers.now(),
      degraded: isDegraded ? Math.ceil(degraded * left) : 0,
      misplaced: Math.ceil(misplaced * left),
      complete: isDegraded ? completeShards(group, this.#map) : [],
    })
    if (group.work?.isRunning) this.noteChange(group)
  }

  /** The group is no more. */
  drop(group: PlacementGroup): void {
    this.#held.delete(group)
    this.#due.delete(group)
  }

  /** Another mgr begins with nothing and hears from all OSDs within one period. */
  forget(groups: readonly PlacementGroup[]): void {
    this.#held.clear()
    for (const group of groups) this.noteChange(group)
  }
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
