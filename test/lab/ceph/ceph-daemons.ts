import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CephParts } from '../parts/parts.ts'
import { type Daemon, startDaemon } from '../processes/daemon.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'
import { askDaemon } from './admin-socket.ts'
import type { DaemonName, DaemonStart } from './lab-ceph.ts'

export interface CephDaemons {
  start(name: DaemonName, how?: DaemonStart): Daemon
  daemon(name: DaemonName): Daemon | undefined
  ready(name: DaemonName): Promise<void>
  socketOf(name: DaemonName): string
  /** Every process, at once. */
  killAll(): Promise<void>
}

export interface DaemonsOptions {
  readonly parts: CephParts
  readonly folder: LabFolder
  readonly journal: Journal
  readonly conf: string
  /** What an OSD's process finds in its environment. */
  readonly environmentOf: (osd: number) => Readonly<Record<string, string>>
}

/** What each kind answers once it works, as probes of Rook's pods ask. */
const probes: Readonly<Record<string, string>> = { mon: 'mon_status', mgr: 'status', osd: 'status' }

/** The processes of one Ceph by their names. */
export function createCephDaemons(options: DaemonsOptions): CephDaemons {
  const { parts, folder, journal, conf, environmentOf } = options
  const daemons = new Map<DaemonName, Daemon>()
  let isClosed = false
  const socketOf = (name: DaemonName) => join(resolve(folder.path), 'ceph', 'run', `${name}.asok`)

  return {
    start(name, { isBroken = false, crushLocation } = {}) {
      const last = daemons.get(name)
      if (last?.isRunning()) return last
      if (isClosed) throw new Error(`${name} cannot start: its Ceph was closed`)
      const [kind = '', id = ''] = name.split('.')
      const given = isBroken ? `${conf}.missing` : conf
      const place = crushLocation === undefined ? [] : placeArguments(crushLocation)
      // A process that was killed leaves its socket behind, and nobody answers there.
      rmSync(socketOf(name), { force: true })
      const daemon = startDaemon({
        name,
        // Where tests themselves run in a container, daemons would tell of that one.
        command: [
          'env',
          '-u',
          'CONTAINER_NAME',
          ...parts.command(`ceph-${kind}`, '-c', given, '-i', id, '-f', ...place),
        ],
        ...(kind === 'osd' ? { environment: environmentOf(Number(id)) } : {}),
        logFile: join(folder.logs, `${name}.log`),
        journal,
      })
      daemons.set(name, daemon)
      return daemon
    },
    daemon: (name) => daemons.get(name),
    async ready(name) {
      const daemon = daemons.get(name)
      if (daemon === undefined) throw new Error(`${name} was never started`)
      const probe = probes[name.slice(0, 3)] ?? 'status'
      for (;;) {
        const isReady = await askDaemon(socketOf(name), probe).then(
          () => true,
          () => false,
        )
        if (!daemon.isRunning()) throw new Error(`${name} ended before it was ready; see ${daemon.logFile}`)
        if (isReady) return
        await pause(50)
      }
    },
    socketOf,
    async killAll() {
      isClosed = true
      for (const daemon of daemons.values()) daemon.signal('SIGKILL')
      await Promise.all([...daemons.values()].map(({ ended }) => ended))
    },
  }
}

/** Other OSDs of the lab find themselves in the map that it began with, each with this weight. */
function placeArguments(location: string): string[] {
  return ['--osd_crush_update_on_start=true', '--osd_crush_initial_weight=1', `--crush_location=${location}`]
}
