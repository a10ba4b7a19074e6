import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephState } from '../ceph-state.ts'
import { ancestorsOf } from '../crush-tree.ts'
import type { OsdEntry } from '../osd-map.ts'
import { osdAddresses } from './osd-dump.ts'
import { releaseOf } from './status.ts'
import { unixSeconds, zuluTime } from './times.ts'

const versionTexts = {
  pacific: 'ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)',
  tentacle: 'ceph version 20.2.4 (7f793731f1b39eb4f465e960113d2363c311b964) tentacle (stable - RelWithDebInfo)',
}

const monFeatures = ['kraken', 'luminous', 'mimic', 'osdmap-prune', 'nautilus', 'octopus', 'pacific', 'elector-pinging']

export function versions(state: CephState): JsonObject {
  const { map, mons, mgr } = state
  const text = versionTexts[releaseOf(state)]
  const count = (daemons: number): JsonObject => (daemons === 0 ? {} : { [text]: daemons })
  const mgrCount = (mgr.active === undefined ? 0 : 1) + mgr.standbys
  const osdCount = [...map.osds.values()].filter(({ isUp }) => isUp).length
  return {
    mon: count(mons.members.length),
    mgr: count(mgrCount),
    osd: count(osdCount),
    ...(releaseOf(state) === 'pacific' ? { mds: {} } : {}),
    overall: count(mons.members.length + mgrCount + osdCount),
  }
}

export function quorumStatus(state: CephState): JsonObject {
  const { mons, map, now } = state
  const release = releaseOf(state)
  const made = zuluTime(map.createdMs)
  // Older releases print the colon as part of the name.
  const oddColon = release === 'pacific' ? ': ' : ''
  return {
    election_epoch: mons.electionEpoch,
    quorum: mons.members.map((mon) => mons.known.indexOf(mon)),
    quorum_names: mons.members,
    quorum_leader_name: mons.members[0] ?? '',
    quorum_age: unixSeconds(now() - mons.sinceMs),
    features: { quorum_con: '4540138314316775423', quorum_mon: monFeatures },
    monmap: {
      epoch: 1,
      fsid: map.fsid,
      modified: made,
      created: made,
      min_mon_release: release === 'pacific' ? 16 : 20,
      min_mon_release_name: release,
      election_strategy: 1,
      [`disallowed_leaders${oddColon}`]: '',
      stretch_mode: false,
      tiebreaker_mon: '',
      [`removed_ranks${oddColon}`]: '',
      features: { persistent: monFeatures, optional: [] },
      mons: mons.known.map((name, rank) => {
        const address = `${state.sightOfMon(name).address}:3300`
        return {
          rank,
          name,
          public_addrs: { addrvec: [{ type: 'v2', addr: address, nonce: 0 }] },
          addr: `${address}/0`,
          public_addr: `${address}/0`,
          priority: 0,
          weight: 0,
          crush_location: release === 'pacific' ? '{}' : [],
        }
      }),
    },
  }
}

export function mgrStat({ mgr }: CephState): JsonObject {
  return {
    epoch: mgr.epoch,
    available: mgr.active !== undefined,
    active_name: mgr.active ?? '',
    num_standby: mgr.standbys,
  }
}

/** What the OSD ran when it booted last; undefined where it never did. */
export function osdVersion(osd: OsdEntry | undefined, state: CephState): string | undefined {
  return osd === undefined || osd.upFrom === 0 ? undefined : versionTexts[releaseOf(state)].split(' ')[2]
}

/** What an OSD reported when it booted last; one that never did is a bare number. */
export function osdMetadata(osd: OsdEntry, state: CephState): JsonObject {
  if (osd.upFrom === 0) return { id: osd.id }
  const { back, front, heartbeatBack, heartbeatFront } = osdAddresses(osd)
  const release = releaseOf(state)
  const text = versionTexts[release]
  const item = state.map.tree.byId.get(osd.id)
  const kind = item?.deviceClass === 'hdd' ? 'hdd' : 'ssd'
  const isRotational = kind === 'hdd' ? '1' : '0'
  const path = `/var/lib/ceph/osd/ceph-${osd.id}`
  return {
    id: osd.id,
    arch: 'x86_64',
    back_addr: `v2:${back}/${osd.nonce}`,
    back_iface: '',
    bluefs: '1',
    bluefs_dedicated_db: '0',
    bluefs_dedicated_wal: '0',
    bluefs_single_shared_device: '1',
    bluestore_bdev_access_mode: 'blk',
    bluestore_bdev_block_size: '4096',
    bluestore_bdev_driver: 'KernelDevice',
    bluestore_bdev_path: `${path}/block`,
    bluestore_bdev_rotational: isRotational,
    bluestore_bdev_size: String((item?.weights.get('') ?? 0) * 2 ** 40),
    bluestore_bdev_support_discard: '0',
    bluestore_bdev_type: kind,
    bluestore_min_alloc_size: '4096',
    ceph_release: release,
    ceph_version: text,
    ceph_version_short: text.split(' ')[2],
    ceph_version_when_created: text,
    container_hostname: osd.pod ?? '',
    container_image: `quay.io/ceph/ceph:v${text.split(' ')[2]}`,
    created_at: zuluTime(state.map.createdMs),
    default_device_class: kind,
    device_ids: '',
    device_paths: '',
    devices: '',
    distro: 'centos',
    distro_description: 'CentOS Stream 9',
    distro_version: '9',
    front_addr: `v2:${front}/${osd.nonce}`,
    front_iface: '',
    hb_back_addr: `v2:${heartbeatBack}/${osd.nonce}`,
    hb_front_addr: `v2:${heartbeatFront}/${osd.nonce}`,
    hostname: osd.host ?? '',
    journal_rotational: isRotational,
    kernel_description: '#1 SMP PREEMPT_DYNAMIC',
    kernel_version: '6.1.0',
    mem_swap_kb: '0',
    mem_total_kb: '16777216',
    network_numa_unknown_ifaces: 'back_iface,front_iface',
    os: 'Linux',
    osd_data: path,
    osd_objectstore: 'bluestore',
    osdspec_affinity: '',
    ...podOf(osd, state),
    rotational: isRotational,
  }
}

/** Rook passes its daemons the name of their pod, and they pass it on. */
function podOf({ pod }: OsdEntry, { description }: CephState): JsonObject {
  return { pod_name: pod ?? '', pod_namespace: description.namespace }
}

export function osdFind(osd: OsdEntry, state: CephState): JsonObject {
  const { map } = state
  const item = map.tree.byId.get(osd.id)
  return {
    osd: osd.id,
    addrs: { addrvec: [{ type: 'v2', addr: osdAddresses(osd).front, nonce: osd.nonce }] },
    osd_fsid: osd.uuid,
    host: osd.host ?? '',
    ...podOf(osd, state),
    crush_location:
      item === undefined ? {} : Object.fromEntries([...ancestorsOf(item)].map(({ type, name }) => [type, name])),
  }
}
