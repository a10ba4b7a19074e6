import type { CephAccess } from '@cofferdam/product/ceph/ceph-access.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import type { CephDescription } from '@cofferdam/simulator/world/ceph/ceph-description.ts'
import type { Daemon } from '../processes/daemon.ts'

export type DaemonName = `mon.${string}` | `mgr.${string}` | `osd.${number}`

export interface DaemonStart {
  /** As from an image that is good for nothing: the program starts, finds no configuration and ends. */
  readonly isBroken?: boolean
  /** Where an OSD puts itself into CRUSH: `root=default host=node-a`. Without it, it has its place already. */
  readonly crushLocation?: string
}

/** A real Ceph on loopback, built from the same description as the simulated one. */
export interface LabCeph {
  readonly version: string
  readonly description: CephDescription
  readonly admin: CephAccess
  /** The operator's own user, with the least rights. */
  readonly operator: CephAccess
  /** As the administrator, over librados. */
  readonly commands: CephCommands
  /** Starts the daemon; one that runs already is returned as it is. */
  start(name: DaemonName, how?: DaemonStart): Daemon
  /** The last process of this daemon, running or not. */
  daemon(name: DaemonName): Daemon | undefined
  /** Resolves when its admin socket answers, which is when a pod of it would be ready. Rejects when it ends before. */
  ready(name: DaemonName): Promise<void>
  /** Makes one more OSD on a host; resolves to its id when it could be started. */
  addOsd(host: string): Promise<number>
  /** Resolves when all OSDs that should run are up and every placement group is active+clean in fresh reports. */
  untilClean(withinSeconds?: number): Promise<void>
  close(): Promise<void>
}

/** A client that writes and reads objects with checksums, all the time. */
export interface ClientLoad {
  /** Asks it to end and returns what it saw. */
  stop(): Promise<LoadReport>
}

export interface LoadReport {
  readonly writes: number
  readonly reads: number
  /** Every failure in words: an I/O error, or content that is not what was written. */
  readonly faults: readonly string[]
  readonly longestStallMs: number
}
