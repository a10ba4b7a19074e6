import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { LeaderTiming } from '@cofferdam/kubernetes/runtime/leader-lease.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { KuredName } from '../capabilities/kured/domain/kured-name.ts'
import type { CephCommands } from '../ceph/ceph-commands.ts'
import type { CephParsers } from '../ceph/create-pg-parser.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { DrainLockSettings } from '../ledger/rules/drain-lock-settings.ts'
import type { buildSafetyIndex } from '../safety/safety-index.ts'
import type { CephTrust } from '../shared/ceph-trust/named-clusters.ts'
import type { GuardWiring } from './guard.ts'
import type { Metrics } from './metrics.ts'

export interface OperatorOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Metrics of everything that this operator can do. */
  readonly metrics: Metrics
  /** Which controllers of the capabilities run, by name. */
  readonly controllers: readonly string[]
  /** Dry run: check and report every write, store none. */
  readonly dryRun: boolean
  /** The way to each Ceph cluster; undefined where none is known, and then nothing of it may go down. */
  readonly ceph?: (cluster: { readonly namespace: string; readonly name: string }) => CephCommands | undefined
  /** Where large answers of Ceph are parsed; by default in this thread. */
  readonly parsers?: Pick<CephParsers, 'parse' | 'parseOsdDump'>
  /** Whoever counts how often a safety index is built passes their own. */
  readonly buildIndex?: typeof buildSafetyIndex
  /** Which CephClusters this operator acts on, and how far; none by default. */
  readonly trust?: CephTrust
  /** Where Rook's own operator may run, beside the namespaces of its clusters. */
  readonly rookNamespaces?: readonly string[]
  readonly drainLock?: Partial<DrainLockSettings>
  /** What owners of applications may lock. */
  readonly appLocks?: AppLockPolicy
  /** Which DaemonSet kured is; by default the one of its own manifest. */
  readonly kured?: KuredName
  /** Where this process listens as eviction guard, leading or not; undefined: it is none. */
  readonly guard?: GuardWiring
  /** Where candidates agree on who leads; undefined when there is only one. */
  readonly lease?: {
    readonly namespace: string
    readonly name: string
    readonly identity: string
    /** How often it is renewed and when it lapses; as usual unless it says. */
    readonly timing?: LeaderTiming
  }
}
