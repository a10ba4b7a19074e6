import type { CephDescription } from '@cofferdam/simulator/world/ceph/ceph-description.ts'

export interface ConfOptions {
  readonly fsid: string
  readonly folder: string
  readonly keyring: string
  readonly mons: readonly { readonly name: string; readonly port: number }[]
  readonly description: CephDescription
}

type Settings = Readonly<Record<string, string | number | boolean>>

/**
 * Ceph as small and as quick as it gets without changing what it does: upstream's periods of seconds are too long to wait
 * for in tests. One text for all releases; each leaves alone what it does not know.
 */
export function cephConf(options: ConfOptions): string {
  const { description, folder } = options
  const sections = {
    global: globalSettings(options),
    mon: monSettings(description),
    mgr: { mgr_module_path: `${folder}/modules`, ...reportPeriods(description) },
    osd: { ...osdSettings, ...reportPeriods(description) },
    client: { log_to_stderr: false, log_file: '', admin_socket: '' },
  }
  const daemonSettings = (name: string): Settings =>
    name === 'mon' || name === 'mgr' || name === 'osd' ? shared(options, name) : {}
  return Object.entries(sections)
    .map(([name, settings]) => sectionText(name, { ...daemonSettings(name), ...settings }))
    .join('\n')
}

function sectionText(name: string, settings: Settings): string {
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`)
  return `[${name}]\n${lines.join('')}`
}

/** How often OSDs report to the mgr, and how often it takes note of what they have reported. */
function reportPeriods({ timings }: CephDescription): Settings {
  const { statsPeriodMs = 1_000, mgrTickMs = 1_000 } = timings ?? {}
  return { mgr_stats_period: statsPeriodMs / 1_000, mgr_tick_period: mgrTickMs / 1_000 }
}

function globalSettings({ fsid, folder, keyring, mons, description }: ConfOptions): Settings {
  const graceMs = description.timings?.heartbeatGraceMs ?? 4_000
  return {
    fsid,
    mon_initial_members: mons.map(({ name }) => name).join(','),
    mon_host: mons.map(({ port }) => `[v2:127.0.0.1:${port}/0]`).join(','),
    auth_cluster_required: 'cephx',
    auth_service_required: 'cephx',
    auth_client_required: 'cephx',
    keyring,
    run_dir: `${folder}/run`,
    admin_socket: `${folder}/run/$name.asok`,
    crash_dir: `${folder}/crash`,
    debug_default: 0,
    log_max_recent: 50,
    ms_bind_msgr1: false,
    ms_bind_ipv6: false,
    ms_async_op_threads: 1,
    // Three or four beats fit in, as upstream. The mons read it too.
    osd_heartbeat_interval: Math.max(1, Math.floor((graceMs * 0.3) / 1_000)),
    osd_heartbeat_grace: graceMs / 1_000,
    osd_pool_default_pg_autoscale_mode: 'off',
    // How long a client waits for one mon before it tries another as well.
    mon_client_hunt_interval: 0.5,
  }
}

/** Daemons write to their standard error, which whoever started them keeps in a file: their own root may not have it. */
function shared({ folder }: ConfOptions, kind: 'mon' | 'mgr' | 'osd'): Settings {
  return {
    [`${kind}_data`]: `${folder}/${kind}.$id`,
    log_to_file: false,
    log_to_stderr: true,
    err_to_stderr: true,
    ...(kind === 'mon' ? {} : { public_addr: '127.0.0.1' }),
  }
}

function monSettings({ timings, downOutSubtreeLimit = 'rack' }: CephDescription): Settings {
  return {
    mon_allow_pool_delete: true,
    // In a cluster younger than this, or with mons that are, none complains of one that is down.
    mon_down_mkfs_grace: 0,
    mon_down_uptime_grace: 0,
    mon_down_added_grace: 0,
    mon_allow_pool_size_one: true,
    mon_cluster_log_to_file: false,
    mon_cluster_log_to_stderr: true,
    mon_data_avail_warn: 1,
    mon_data_avail_crit: 0,
    auth_allow_insecure_global_id_reclaim: false,
    mon_max_pg_per_osd: 5_000,
    mgr_initial_modules: '',
    paxos_propose_interval: 0.05,
    paxos_min_wait: 0.01,
    mon_tick_interval: 1,
    mon_election_timeout: 1,
    mon_probe_timeout: 0.5,
    mon_lease: 3,
    mon_mgr_beacon_grace: 6,
    mon_osd_min_down_reporters: 1,
    mon_osd_reporter_subtree_level: 'osd',
    mon_osd_adjust_heartbeat_grace: false,
    mon_osd_adjust_down_out_interval: false,
    mon_osd_down_out_interval: Math.ceil((timings?.downOutIntervalMs ?? 600_000) / 1_000),
    mon_osd_down_out_subtree_limit: downOutSubtreeLimit,
    // A program that the mon starts for it may take longer than it waits where cores are few.
    mon_osd_crush_smoke_test: false,
  }
}

const osdSettings: Settings = {
  cluster_addr: '127.0.0.1',
  osd_objectstore: 'bluestore',
  osd_class_update_on_start: false,
  osd_crush_update_on_start: false,
  osd_max_pg_per_osd_hard_ratio: 10,
  osd_op_num_shards: 1,
  osd_op_num_threads_per_shard: 1,
  osd_op_queue: 'wpq',
  osd_mclock_skip_benchmark: true,
  osd_memory_target: 939_524_096,
  osd_max_scrubs: 0,
  // A file counts as a rotating disk, and those are given rest between two objects.
  osd_recovery_sleep_hdd: 0,
  osd_recovery_sleep_hybrid: 0,
  osd_recovery_max_active: 10,
  osd_max_backfills: 10,
  bluestore_block_size: 4 * 2 ** 30,
  bluestore_cache_autotune: false,
  bluestore_cache_size: 8 * 2 ** 20,
  // The kernel has a limit for all processes together.
  bdev_aio_max_queue_depth: 64,
}
