import type { Observed } from '../../shared/observed.ts'
import type { CephCommands } from '../ceph-commands.ts'
import type { OkToUpgradeAnswer, UpgradeQuestion } from '../ok-to-upgrade-answer.ts'
import type { OsdNooutFailures, OsdNooutWanted } from '../osd-noout.ts'
import type { CephReader } from './ceph-reader.ts'

/** How controllers ask things of Ceph; what speaks to it is wired from outside. */
export interface CephPorts {
  /** The one way to the map of a cluster, shared by everybody who asks. */
  readonly reader: CephReader
  /** The way to one cluster; undefined where none is known. */
  of(cluster: { readonly namespace: string; readonly name: string }): CephCommands | undefined
  observeOsdHosts(ceph: CephCommands, signal: AbortSignal): Promise<Observed<ReadonlyMap<number, string>>>
  observeQuorum(ceph: CephCommands, signal: AbortSignal): Promise<Observed<MonQuorum>>
  /** What was heard of its quorum last; undefined until it was asked for. */
  lastQuorum(cluster: { readonly namespace: string; readonly name: string }): Observed<MonQuorum> | undefined
  /** What Ceph says of placement groups of `ignoredPools` does not count. */
  askOkToStop(
    ceph: CephCommands,
    osds: readonly number[],
    signal: AbortSignal,
    ignoredPools?: readonly number[],
  ): Promise<Observed<boolean>>
  /** Which OSDs may stop together with this one, at most so many; none when it may not. */
  askStoppable(ceph: CephCommands, osd: number, max: number, signal: AbortSignal): Promise<Observed<readonly number[]>>
  askOkToUpgrade(
    ceph: CephCommands,
    question: UpgradeQuestion,
    signal: AbortSignal,
  ): Promise<Observed<OkToUpgradeAnswer>>
  observeOsdVersions(ceph: CephCommands, signal: AbortSignal): Promise<Observed<ReadonlyMap<number, string>>>
  applyNoout(ceph: CephCommands, wanted: NooutWanted, signal: AbortSignal): Promise<NooutOutcome>
  /** For single OSDs. Returns what failed, in words. */
  applyOsdNoout(ceph: CephCommands, wanted: OsdNooutWanted, signal: AbortSignal): Promise<OsdNooutFailures>
  /** Undefined: the default pattern. */
  compilePgPattern(pattern: string | undefined): Observed<(state: string) => boolean>
}

export interface MonQuorum {
  readonly mons: readonly string[]
  readonly inQuorum: readonly string[]
}

export interface NooutWanted {
  readonly set: readonly string[]
  readonly unset: readonly string[]
}

export interface NooutOutcome extends NooutWanted {
  /** Buckets that CRUSH no longer has. */
  readonly gone: readonly string[]
  readonly failed: readonly { readonly bucket: string; readonly wanted: 'set' | 'unset'; readonly why: string }[]
}
