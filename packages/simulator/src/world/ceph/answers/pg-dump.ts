import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephState, SeenGroup } from '../ceph-state.ts'
import type { PgReport } from '../pg-reports.ts'
import { primaryOf } from '../placement-group.ts'
import { objectTroubles } from './health.ts'
import { cephTime } from './times.ts'

export const bytesPerObject = 4 * 1_024 * 1_024

/** `pg dump` in JSON, with the parts that were asked for: `pgs`, `pgs_brief`, or all. */
export function pgDump(state: CephState, contents: readonly string[]): string {
  // The mgr keeps them in no order that anybody could rely on.
  const seen = [...state.seen()].sort((a, b) => b.group.number - a.group.number || a.group.pool.id - b.group.pool.id)
  if (contents.includes('pgs_brief')) return JSON.stringify({ pg_ready: true, pg_stats: seen.map(briefly) })
  const rows = `[${seen.map((group) => printGroup(group, state)).join()}]`
  if (contents.includes('pgs')) return `{"pg_ready":true,"pg_stats":${rows}}`
  const head = JSON.stringify({
    version: state.map.epoch,
    stamp: cephTime(state.now()),
    last_osdmap_epoch: state.map.epoch,
    last_pg_scan: state.map.epoch,
  })
  return `{"pg_ready":true,"pg_map":${head.slice(0, -1)},"pg_stats":${rows}}}`
}

/** What was printed of a report, and in which state its group was then. */
const printed = new WeakMap<PgReport, { readonly state: string; readonly text: string }>()

/** Most groups say the same again and again. */
function printGroup(seen: SeenGroup, state: CephState): string {
  const { report } = seen
  const last = report && printed.get(report)
  if (last?.state === seen.state) return last.text
  const text = JSON.stringify(describeGroup(seen, state))
  if (report !== undefined) printed.set(report, { state: seen.state, text })
  return text
}

export function pgsByState(seen: readonly SeenGroup[]): readonly (readonly [state: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const { state } of seen) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
}

export function pgStat(state: CephState): JsonObject {
  const seen = state.seen()
  const { stored, total, used } = usage(state)
  return {
    pg_ready: true,
    pg_summary: {
      num_pg_by_state: pgsByState(seen).map(([name, num]) => ({ name, num })),
      num_pgs: seen.length,
      num_bytes: stored,
      total_bytes: total,
      total_avail_bytes: total - used,
      total_used_bytes: used,
      total_used_raw_bytes: used,
      write_bytes_sec: 0,
      io_sec: 0,
      ...objectTroubles(seen),
    },
  }
}

/** Bytes that clients stored, that all OSDs which are in have, and that are taken on them. */
export function usage({ groups, map }: CephState) {
  let stored = 0
  let used = 0
  for (const { objects, pool } of groups.list) {
    const bytes = objects * bytesPerObject
    stored += bytes
    used += Math.round((bytes * pool.size) / pool.readable)
  }
  let total = 0
  for (const { id, isIn } of map.osds.values()) {
    if (isIn) total += (map.tree.byId.get(id)?.weights.get('') ?? 0) * 2 ** 40
  }
  return { stored, used, total }
}

function briefly({ group, report, state }: SeenGroup): JsonObject {
  const up = report?.up ?? []
  const acting = report?.acting ?? []
  return { pgid: group.id, state, up, acting, up_primary: primaryOf(up), acting_primary: primaryOf(acting) }
}

const noPg = "0'0"

function describeGroup(seen: SeenGroup, { map }: Pick<CephState, 'map'>): JsonObject {
  const { group, report, state } = seen
  const { pool, objects } = group
  const at = cephTime(report?.atMs ?? 0)
  const changed = cephTime(report?.changedMs ?? 0)
  const made = cephTime(map.createdMs)
  const stored = report === undefined ? 0 : objects
  const { up, acting, up_primary, acting_primary } = briefly(seen)
  return {
    pgid: group.id,
    version: report === undefined ? noPg : `${report.epoch}'${stored}`,
    reported_seq: report?.sequence ?? 0,
    reported_epoch: report?.epoch ?? 0,
    state,
    last_fresh: at,
    last_change: changed,
    last_active: at,
    last_peered: at,
    last_clean: state.includes('clean') ? at : changed,
    last_became_active: changed,
    last_became_peered: changed,
    last_unstale: at,
    last_undegraded: state.includes('degraded') ? changed : at,
    last_fullsized: state.includes('undersized') ? changed : at,
    mapping_epoch: report?.mappingEpoch ?? 0,
    log_start: noPg,
    ondisk_log_start: noPg,
    created: report === undefined ? 0 : 9,
    last_epoch_clean: report?.mappingEpoch ?? 0,
    parent: '0.0',
    parent_split_bits: 0,
    last_scrub: noPg,
    last_scrub_stamp: made,
    last_deep_scrub: noPg,
    last_deep_scrub_stamp: made,
    last_clean_scrub_stamp: made,
    log_size: stored,
    ondisk_log_size: stored,
    ...validity,
    snaptrimq_len: 0,
    stat_sum: {
      ...zeroes,
      num_bytes: stored * bytesPerObject,
      num_objects: stored,
      num_object_copies: stored * pool.size,
      num_objects_degraded: report?.degraded ?? 0,
      num_objects_misplaced: report?.misplaced ?? 0,
      num_objects_dirty: stored,
      num_write: stored,
      num_write_kb: (stored * bytesPerObject) / 1_024,
    },
    up,
    acting,
    avail_no_missing: report?.complete ?? [],
    object_location_counts:
      report === undefined || report.complete.length === 0
        ? []
        : [{ shards: report.complete.join(','), objects: stored }],
    blocked_by: [],
    up_primary,
    acting_primary,
    purged_snaps: [],
  }
}

const validity: JsonObject = {
  stats_invalid: false,
  dirty_stats_invalid: false,
  omap_stats_invalid: false,
  hitset_stats_invalid: false,
  hitset_bytes_stats_invalid: false,
  pin_stats_invalid: false,
  manifest_stats_invalid: false,
}

/** Everything that `stat_sum` counts. */
const zeroes: JsonObject = Object.fromEntries(
  `num_bytes num_objects num_object_clones num_object_copies num_objects_missing_on_primary num_objects_missing
  num_objects_degraded num_objects_misplaced num_objects_unfound num_objects_dirty num_whiteouts num_read num_read_kb
  num_write num_write_kb num_scrub_errors num_shallow_scrub_errors num_deep_scrub_errors num_objects_recovered
  num_bytes_recovered num_keys_recovered num_objects_omap num_objects_hit_set_archive num_bytes_hit_set_archive
  num_flush num_flush_kb num_evict num_evict_kb num_promote num_flush_mode_high num_flush_mode_low num_evict_mode_some
  num_evict_mode_full num_objects_pinned num_legacy_snapsets num_large_omap_objects num_objects_manifest num_omap_bytes
  num_omap_keys num_objects_repaired`
    .split(/\s+/)
    .map((name) => [name, 0]),
)
