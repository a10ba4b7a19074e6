import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephState } from '../ceph-state.ts'
import { health, isInState, objectTroubles } from './health.ts'
import { pgsByState, usage } from './pg-dump.ts'
import { cephTime, unixSeconds } from './times.ts'

export function status(state: CephState): JsonObject {
  const { map, mons, mgr, now } = state
  return {
    fsid: map.fsid,
    health: health(state, { withDetail: false }),
    election_epoch: mons.electionEpoch,
    quorum: mons.members.map((mon) => mons.known.indexOf(mon)),
    quorum_names: mons.members,
    quorum_age: unixSeconds(now() - mons.sinceMs),
    monmap: { epoch: 1, min_mon_release_name: releaseOf(state), num_mons: mons.known.length },
    osdmap: osdStat(state),
    pgmap: pgSummary(state),
    fsmap: { epoch: 1, by_rank: [], 'up:standby': 0 },
    mgrmap: { available: mgr.active !== undefined, num_standbys: mgr.standbys, modules: [], services: {} },
    servicemap: { epoch: 1, modified: cephTime(map.createdMs), services: {} },
    progress_events: {},
  }
}

export function releaseOf({ okToStop }: CephState): 'pacific' | 'tentacle' {
  return okToStop.isTentacle ? 'tentacle' : 'pacific'
}

export function osdStat(state: CephState): JsonObject {
  const { map } = state
  const osds = [...map.osds.values()]
  return {
    epoch: map.epoch,
    num_osds: osds.length,
    num_up_osds: osds.filter(({ isUp }) => isUp).length,
    osd_up_since: unixSeconds(map.upChangedMs),
    num_in_osds: osds.filter(({ isIn }) => isIn).length,
    osd_in_since: unixSeconds(map.inChangedMs),
    num_remapped_pgs: state.groups.remapped.length,
  }
}

function pgSummary(state: CephState): JsonObject {
  const seen = state.seen()
  const { stored, used, total } = usage(state)
  const inactive = seen.filter((group) => group.state !== 'unknown' && !isInState(group, 'active'))
  const unknown = seen.filter((group) => group.state === 'unknown')
  return {
    pgs_by_state: pgsByState(seen).map(([state_name, count]) => ({ state_name, count })),
    num_pgs: seen.length,
    num_pools: state.pools.length,
    num_objects: seen.reduce((sum, { group, report }) => sum + (report === undefined ? 0 : group.objects), 0),
    data_bytes: stored,
    bytes_used: used,
    bytes_avail: total - used,
    bytes_total: total,
    ...(inactive.length > 0 ? { inactive_pgs_ratio: inactive.length / seen.length } : {}),
    ...(unknown.length > 0 ? { unknown_pgs_ratio: unknown.length / seen.length } : {}),
    ...objectTroubles(seen),
  }
}
