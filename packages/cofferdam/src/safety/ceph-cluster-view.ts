import type { IgnoredPool } from './ignored-pools.ts'

export interface CephClusterView {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** `manage`: the budgets are ours. `observe`: another operator has them, we only observe. `hand-back`: management was switched off, remove what is ours. */
  readonly mode: 'manage' | 'observe' | 'hand-back'
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
