import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephState } from '../ceph-state.ts'
import type { Pool } from '../placement-group.ts'
import { cephTime } from './times.ts'

const neverMerged: JsonObject = {
  source_pgid: '0.0',
  ready_epoch: 0,
  last_epoch_started: 0,
  last_epoch_clean: 0,
  source_version: "0'0",
  target_version: "0'0",
}

const noCacheTier: JsonObject = {
  tier_of: -1,
  read_tier: -1,
  write_tier: -1,
  cache_mode: 'none',
  target_max_bytes: 0,
  target_max_objects: 0,
  cache_target_dirty_ratio_micro: 400_000,
  cache_target_dirty_high_ratio_micro: 600_000,
  cache_target_full_ratio_micro: 800_000,
  cache_min_flush_age: 0,
  cache_min_evict_age: 0,
}

const noHitSets: JsonObject = {
  hit_set_period: 0,
  hit_set_count: 0,
  use_gmt_hitset: true,
  min_read_recency_for_promote: 0,
  min_write_recency_for_promote: 0,
  hit_set_grade_decay_rate: 0,
  hit_set_search_last_n: 0,
  grade_table: [],
}

export function ecProfileName({ name }: Pool): string {
  return `${name}_ecprofile`
}

/** What `osd dump` and `osd pool ls detail` both say of a pool; they differ in the name of its number. */
export function describePool(pool: Pool, { map }: CephState, idField: 'pool' | 'pool_id'): JsonObject {
  const isErasure = pool.kind === 'erasure'
  return {
    [idField]: pool.id,
    pool_name: pool.name,
    create_time: cephTime(map.createdMs),
    flags: 1,
    flags_names: 'hashpspool',
    type: isErasure ? 3 : 1,
    size: pool.size,
    min_size: pool.minSize,
    crush_rule: pool.rule.id,
    peering_crush_bucket_count: 0,
    peering_crush_bucket_target: 0,
    peering_crush_bucket_barrier: 0,
    peering_crush_bucket_mandatory_member: 2_147_483_647,
    object_hash: 2,
    pg_autoscale_mode: 'off',
    pg_num: pool.pgCount,
    pg_placement_num: pool.pgCount,
    pg_placement_num_target: pool.pgTarget ?? pool.pgCount,
    pg_num_target: pool.pgTarget ?? pool.pgCount,
    pg_num_pending: pool.pgCount,
    last_pg_merge_meta: neverMerged,
    last_change: '8',
    last_force_op_resend: '0',
    last_force_op_resend_prenautilus: '0',
    last_force_op_resend_preluminous: '0',
    auid: 0,
    snap_mode: 'selfmanaged',
    snap_seq: 0,
    snap_epoch: 0,
    pool_snaps: [],
    removed_snaps: '[]',
    quota_max_bytes: 0,
    quota_max_objects: 0,
    tiers: [],
    ...noCacheTier,
    erasure_code_profile: isErasure ? ecProfileName(pool) : '',
    hit_set_params: { type: 'none' },
    ...noHitSets,
    stripe_width: isErasure ? 4_096 * pool.readable : 0,
    expected_num_objects: 0,
    fast_read: false,
    options: {},
    application_metadata: { [applicationOf(pool)]: {} },
  }
}

export function poolList(state: CephState): Json {
  return state.pools.map((pool) => describePool(pool, state, 'pool_id'))
}

function applicationOf({ name }: Pool): string {
  if (name === '.mgr') return 'mgr'
  return name.includes('rgw') ? 'rgw' : 'rbd'
}
