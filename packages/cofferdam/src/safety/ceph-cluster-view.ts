import type { CephOwnership } from './ceph-ownership.ts'
import type { IgnoredPool } from './ignored-pools.ts'

export interface CephClusterView {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Whose the budgets are, as `CephOwnership.budgets`. */
  readonly mode: CephOwnership['budgets']
  /** Who updates OSDs, as `CephOwnership.updates`; absent where nobody asks. */
  readonly updates?: CephOwnership['updates']
  /** A Rook is to be reckoned with, whether it runs now or not, and whether it is told to manage the budgets. Absent: there is none. */
  readonly rook?: { readonly managesBudgets: boolean }
  readonly settings: DisruptionSettings
}

export interface DisruptionSettings {
  /** Default 30. */
  readonly osdMaintenanceTimeoutMinutes: number
  /** Undefined: the default pattern. */
  readonly pgHealthyRegex: string | undefined
  /** Overrides what the CRUSH rules say: annotation `cofferdam.io/failure-domain` on the CephCluster. */
  readonly failureDomainOverride: string | undefined
  /** How many failure domains may be away together where the placement groups allow it. Default 1: annotation `cofferdam.io/max-domains`. */
  readonly maxDomains: number
  /** Pools that hold nothing: annotation `cofferdam.io/ignore-pools`. */
  readonly ignoredPools: readonly IgnoredPool[]
  /** How long Ceph may be silent before nothing more may go down. Default 30 000. */
  readonly silenceGraceMs: number
  /** Texts for the condition: fields that are accepted and do nothing, values that cannot be used. */
  readonly warnings: readonly string[]
}
