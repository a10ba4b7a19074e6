import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephState } from '../ceph-state.ts'
import type { OsdEntry } from '../osd-map.ts'
import type { Pool } from '../placement-group.ts'
import { describePool, ecProfileName } from './pool-record.ts'
import { releaseOf } from './status.ts'
import { cephTime } from './times.ts'

/** Bits of the OSD map's flags, by the names that Ceph prints. */
export const flagBits: Readonly<Record<string, number>> = {
  pauserd: 1 << 2,
  pausewr: 1 << 3,
  noup: 1 << 5,
  nodown: 1 << 6,
  noout: 1 << 7,
  noin: 1 << 8,
  nobackfill: 1 << 9,
  norecover: 1 << 10,
  noscrub: 1 << 11,
  'nodeep-scrub': 1 << 12,
  notieragent: 1 << 13,
  norebalance: 1 << 14,
  sortbitwise: 1 << 15,
  recovery_deletes: 1 << 19,
  purged_snapdirs: 1 << 20,
  pglog_hardlimit: 1 << 22,
  nosnaptrim: 1 << 23,
}

export function osdDump(state: CephState): JsonObject {
  const { map, pools, groups } = state
  const flags = Object.keys(flagBits).filter((flag) => map.flags.has(flag))
  const osds = [...map.osds.values()]
  return {
    epoch: map.epoch,
    fsid: map.fsid,
    created: cephTime(map.createdMs),
    modified: cephTime(map.modifiedMs),
    last_up_change: cephTime(map.upChangedMs),
    last_in_change: cephTime(map.inChangedMs),
    flags: flags.join(','),
    flags_num: flags.reduce((sum, flag) => sum + (flagBits[flag] ?? 0), 0),
    flags_set: [...flags].sort(),
    crush_version: 2,
    full_ratio: 0.949999988079071,
    backfillfull_ratio: 0.8999999761581421,
    nearfull_ratio: 0.8500000238418579,
    cluster_snapshot: '',
    pool_max: pools.length,
    max_osd: Math.max(-1, ...map.osds.keys()) + 1,
    require_min_compat_client: 'luminous',
    min_compat_client: 'jewel',
    require_osd_release: releaseOf(state),
    pools: pools.map((pool) => describePool(pool, state, 'pool')),
    osds: osds.map(describeOsd),
    osd_xinfo: osds.map((osd) => describeOsdMore(osd, map.createdMs)),
    pg_upmap: [],
    pg_upmap_items: [...groups.upmaps].map(([pgid, pairs]) => ({
      pgid,
      mappings: pairs.map(({ from, to }) => ({ from, to })),
    })),
    pg_temp: groups.remapped.map(({ id, acting }) => ({ pgid: id, osds: acting })),
    primary_temp: [],
    blocklist: {},
    range_blocklist: {},
    erasure_code_profiles: Object.fromEntries([
      ['default', { k: '2', m: '2', plugin: 'jerasure', technique: 'reed_sol_van' }],
      ...pools
        .filter(({ kind }) => kind === 'erasure')
        .map((pool) => [ecProfileName(pool), ecProfile(pool, state)] as const),
    ]),
    removed_snaps_queue: [],
    new_removed_snaps: [],
    new_purged_snaps: [],
    crush_node_flags: flagTable(map.bucketFlags),
    device_class_flags: flagTable(map.classFlags),
    stretch_mode: {
      stretch_mode_enabled: false,
      stretch_bucket_count: 0,
      degraded_stretch_mode: 0,
      recovering_stretch_mode: 0,
      stretch_mode_bucket: 0,
    },
  }
}

export function ecProfile(pool: Pool, { map }: CephState): JsonObject {
  return {
    'crush-device-class': pool.deviceClass ?? '',
    'crush-failure-domain': pool.failureDomain,
    'crush-root': map.tree.root.name,
    'jerasure-per-chunk-alignment': 'false',
    k: String(pool.readable),
    m: String(pool.size - pool.readable),
    plugin: 'jerasure',
    technique: 'reed_sol_van',
    w: '8',
  }
}

function flagTable(flags: ReadonlyMap<string, ReadonlySet<string>>): JsonObject {
  return Object.fromEntries([...flags].sort().map(([name, held]) => [name, [...held].sort()]))
}

function describeOsd(osd: OsdEntry): JsonObject {
  const addresses = osdAddresses(osd)
  return {
    osd: osd.id,
    uuid: osd.uuid,
    up: osd.isUp ? 1 : 0,
    in: osd.isIn ? 1 : 0,
    weight: osd.isIn ? 1 : 0,
    primary_affinity: 1,
    last_clean_begin: 0,
    last_clean_end: 0,
    up_from: osd.upFrom,
    up_thru: osd.upThru,
    down_at: osd.downAt,
    lost_at: 0,
    public_addrs: { addrvec: [{ type: 'v2', addr: addresses.front, nonce: osd.nonce }] },
    cluster_addrs: { addrvec: [{ type: 'v2', addr: addresses.back, nonce: osd.nonce }] },
    heartbeat_back_addrs: { addrvec: [{ type: 'v2', addr: addresses.heartbeatBack, nonce: osd.nonce }] },
    heartbeat_front_addrs: { addrvec: [{ type: 'v2', addr: addresses.heartbeatFront, nonce: osd.nonce }] },
    public_addr: `${addresses.front}/${osd.nonce}`,
    cluster_addr: `${addresses.back}/${osd.nonce}`,
    heartbeat_back_addr: `${addresses.heartbeatBack}/${osd.nonce}`,
    heartbeat_front_addr: `${addresses.heartbeatFront}/${osd.nonce}`,
    state: [
      ...(osd.isAutoOut ? ['autoout'] : []),
      'exists',
      ...(osd.isNew ? ['new'] : []),
      ...(osd.isUp ? ['up'] : []),
      ...osd.flags,
    ].sort(),
  }
}

export function osdAddresses({ address }: OsdEntry) {
  const host = address === '' ? '0.0.0.0' : address
  return {
    front: `${host}:6800`,
    back: `${host}:6801`,
    heartbeatFront: `${host}:6802`,
    heartbeatBack: `${host}:6803`,
  }
}

function describeOsdMore({ id, downAt, downSinceMs }: OsdEntry, createdMs: number): JsonObject {
  return {
    osd: id,
    down_stamp: downAt === 0 ? '0.000000' : cephTime(downSinceMs),
    laggy_probability: 0,
    laggy_interval: 0,
    features: 4_540_138_314_316_775_000,
    old_weight: 0,
    last_purged_snaps_scrub: cephTime(createdMs),
    dead_epoch: Math.max(0, downAt - 1),
  }
}
