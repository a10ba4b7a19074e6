import { cephFiles as savedFiles } from '../ceph/saved/ceph-files.ts'
import { parseCephAnswers } from '../ceph/saved/parse-ceph-answers.ts'
import { isSavedCluster } from '../cli/snapshot/open-saved-cluster.ts'
import { reasons as allReasons } from '../shared/reasons.ts'
import { judgeCeph } from './judge-ceph.ts'
import { judgeCluster } from './judge-cluster.ts'

// What is exported here is `cofferdam/domain`: docs/reference/library.md. Types are declared in full, so that they need no sources.

/** What was asked for, or why it is not known. Nothing that is not known counts as safe. */
export type Known<T> = { readonly known: true; readonly value: T } | { readonly known: false; readonly why: string }

/** What every reason says, by its name: the words that decisions, conditions and events use. */
export const reasons: Readonly<Record<string, string>> = allReasons

/** The five answers of Ceph that a map is made from, by the name of the file that `cofferdam plan osd-update --from` reads. */
export type CephFile =
  | 'osd-dump.json'
  | 'pg-dump-pgs_brief.json'
  | 'osd-tree.json'
  | 'osd-crush-rule-dump.json'
  | 'osd-pool-ls-detail.json'

/** For every file, the command that prints it with `-f json`. */
export const cephFiles: Readonly<Record<CephFile, string>> = savedFiles

/**
 * The state of a Ceph cluster from what the five commands of `cephFiles` printed, each parsed as JSON.
 *
 * Answers that are not of one moment, or not of one cluster, are refused as far as they contradict each other.
 */
export function parseCeph(answers: Readonly<Record<CephFile, unknown>>): Known<CephState> {
  const { source, refusal } = parseCephAnswers((file) => answers[file])
  if (source === undefined) return { known: false, why: refusal.says }
  return { known: true, value: judgeCeph(source) }
}

/** A Ceph cluster at one moment, and what may be done with its OSDs. */
export interface CephState {
  /** The epoch of the OSD map. */
  readonly epoch: number
  readonly osds: readonly { readonly id: number; readonly isUp: boolean; readonly isIn: boolean }[]
  readonly pools: readonly { readonly name: string; readonly size: number; readonly minSize: number }[]
  /** The narrowest type that the CRUSH rule of any pool spreads over: `host`, `rack`, `zone`. */
  readonly failureDomainType: string
  /** May these OSDs be down together, with all that is down already? By placement groups, not by counts. */
  mayStop(osds: readonly number[], options?: { readonly reserve?: number }): StopVerdict
  /** For each bucket of the type, by default the failure domains: may all of its OSDs be down together? */
  mayStopDomains(options?: { readonly type?: string; readonly reserve?: number }): readonly DomainVerdict[]
  /** In which rounds OSDs can be restarted, as few as can be found. Each round was checked twice, by code that shares nothing. */
  planRounds(options?: RoundOptions): RoundPlan
}

/** `no` names the first placement groups that would lose too much; `unknown` says what is missing, and is never a yes. */
export type StopVerdict =
  | { readonly may: 'yes' }
  | { readonly may: 'no'; readonly troubles: readonly PgTrouble[]; readonly troubleCount: number }
  | { readonly may: 'unknown'; readonly why: string }

/** A placement group that stands in the way. */
export interface PgTrouble {
  /** `1.1b` */
  readonly pg: string
  readonly pool: string
  /** Copies that would be left, and how many the pool needs; left out where the placement group is in doubt. */
  readonly left?: number
  readonly floor?: number
  /** Its state, where it is damaged or misses objects: it stays so until it is repaired. */
  readonly state?: string
}

export interface DomainVerdict {
  readonly domain: string
  readonly osds: readonly number[]
  readonly verdict: StopVerdict
}

export interface RoundOptions {
  /** Which OSDs; all by default. */
  readonly osds?: readonly number[]
  /** At most so many at once: a number, or a percentage such as `'15%'`, which is the default. */
  readonly maxInParallel?: number | `${number}%`
  /** Copies that every placement group keeps beyond the min_size of its pool. */
  readonly reserve?: number
  /** `by-domain`: all OSDs of a failure domain before the next. */
  readonly order?: 'fewest-rounds' | 'by-domain'
  /** The first rounds have one OSD, two, four and so on. */
  readonly canary?: boolean
}

export interface RoundPlan {
  /** Ids ascending within a round. */
  readonly rounds: readonly (readonly number[])[]
  /** No plan has fewer rounds, and why. */
  readonly lowerBound: { readonly rounds: number; readonly why: string }
  /** OSDs that must not stop even alone. */
  readonly blocked: readonly { readonly osd: number; readonly why: string }[]
}

/** The state of a Kubernetes cluster from what `cofferdam snapshot` printed, parsed as JSON. */
export function parseCluster(snapshot: unknown): Known<ClusterState> {
  if (!isSavedCluster(snapshot)) return { known: false, why: 'it is not what cofferdam snapshot prints' }
  return { known: true, value: judgeCluster(snapshot) }
}

/** A Kubernetes cluster as it was at one moment. Answers are those that the commands give with `--from`. */
export interface ClusterState {
  readonly takenAt: string
  /** Names, in the order of the snapshot. */
  readonly nodes: readonly string[]
  /**
   * In which waves nodes can be drained, and which never can.
   *
   * Rejects where a node is named that is not there.
   */
  planDrain(options?: DrainOptions): Promise<DrainPlan>
  /**
   * May this go now, and if not, why? Takes what `cofferdam explain` takes: `worker-a1`, `pod/shop/orders-0`, `osd.4`.
   *
   * Rejects where there is no such object.
   */
  explain(object: string, options?: { readonly namespace?: string }): Promise<Explanation>
}

export interface DrainOptions {
  /** Which nodes; all by default. */
  readonly nodes?: readonly string[]
  /** What happens to them after the drain; `Reboot` by default. */
  readonly intent?: 'Reboot' | 'Remove' | 'Replace'
  /** Whether pods that ask to stay through a reboot do; by default they do. */
  readonly honourSkipDrain?: boolean
  /** Whether pods may be evicted that no controller creates again. */
  readonly force?: boolean
  /** Whether pods with emptyDir volumes may be evicted. */
  readonly deleteEmptyDirData?: boolean
}

export interface DrainPlan {
  /** Nodes of one wave can be away together. */
  readonly waves: readonly (readonly string[])[]
  /** No order takes fewer waves. */
  readonly lowerBound: number
  /** Nodes that can never go as asked. */
  readonly never: readonly { readonly node: string; readonly why: string }[]
  /** Nodes in no wave, because what may hold them could not be read. */
  readonly unknown: readonly { readonly node: string; readonly object: string; readonly why: string }[]
  /** What nodes of the waves wait for at that moment. */
  readonly waits: readonly {
    readonly node: string
    readonly object: string
    readonly reason: string
    readonly why: string
  }[]
  /** What could not be read. */
  readonly notSeen: readonly string[]
}

export interface Explanation {
  /** `node/worker-a1` */
  readonly object: string
  /** `unknown`: nothing is seen that holds it, and not everything that may could be read. */
  readonly verdict: 'free' | 'blocked' | 'unknown'
  readonly summary: string
  readonly blockers: readonly Blocker[]
  /** What could not be read. */
  readonly notSeen: readonly string[]
}

/** One thing that stands in the way. */
export interface Blocker {
  /** `pdb/shop/orders` */
  readonly object: string
  /** One of `reasons`. */
  readonly reason: string
  readonly explanation: string
  readonly holder: string
  readonly since?: string
  /** What ends it. */
  readonly unblocks: string
  /** How to go ahead all the same, and what that costs. */
  readonly override: string
}
