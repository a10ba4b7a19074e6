import type { Observed } from '../shared/observed.ts'

/** Everything on which it is decided whether Cofferdam may be removed now. */
export interface UninstallSnapshot {
  /** Undefined where its lease may not be read. */
  readonly isOperatorRunning: boolean | undefined
  readonly ceph: readonly ManagedCeph[]
  readonly longhorn: readonly ManagedLonghorn[]
  /** Requests that are not over. */
  readonly requests: readonly StandingRequest[]
  /** What the ledger says is held. */
  readonly holds: Observed<readonly StandingHold[]>
  /** Locks of owners. */
  readonly locks: readonly StandingLock[]
  /** Machines, nodes and health checks that remediation is kept from now: `machine/NAMESPACE/NAME`. */
  readonly keptFromRemediation: readonly string[]
  /** Machine budgets of Cofferdam. */
  readonly machineBudgets: readonly string[]
  /** Whether a DisruptionPolicy was written. */
  readonly hasPolicy: boolean
  /** What the user may not read. */
  readonly notSeen: readonly string[]
  readonly wants: UninstallWish
}

export interface UninstallWish {
  /** Also in the middle of something. */
  readonly isEvenNow: boolean
  /** Also where no Rook takes the budgets of a Ceph cluster. */
  readonly isWithoutSuccessor: boolean
}

/** A CephCluster with budgets or a record of Cofferdam. */
export interface ManagedCeph {
  readonly namespace: string
  readonly name: string
  readonly rookRuns: boolean
  /** Failure domains that are down on plan. */
  readonly openDomains: readonly string[]
  /** Buckets on which Cofferdam has set noout. */
  readonly noout: readonly string[]
}

/** A Longhorn in whose drains Cofferdam has a part. */
export interface ManagedLonghorn {
  readonly namespace: string
  /** What Cofferdam has changed of Longhorn's own fields for a drain that is under way. */
  readonly changed: readonly string[]
}

export interface StandingRequest {
  /** Its uid, by which the ledger knows it. */
  readonly id: string
  readonly name: string
  readonly node: string
  readonly phase: string
}

export interface StandingHold {
  readonly key: string
  readonly holder: string
  readonly requestId: string
}

export interface StandingLock {
  /** `NAMESPACE/NAME` of its budget. */
  readonly budget: string
  readonly holder: string
  readonly until: string
}
