import type { EvictionToken } from '../../../ledger/rules/decide-eviction.ts'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import type { BudgetReference, PodReference } from '../../../shared/object-references.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { Step } from '../../../shared/steps.ts'
import type { DisruptionDecision } from './decision.ts'
import type { LedgerStep } from './ledger-step.ts'
import type { EvictionAsk } from './responder-facts.ts'
import type { BudgetHold, DisruptionRecord } from './snapshot.ts'

/** What one pass over a request does, with all that is needed to do it. */
export type PassStep = AskServer | ChangeLedger | WriteStep | EvictPods | ReportPass

/** Observe everything again, from now on with pods and budgets as the API server has them, not from copies. */
export interface AskServer extends Step {
  readonly do: 'ask'
}

export interface ChangeLedger extends Step {
  readonly do: 'hold'
  readonly change: LedgerStep
  readonly requestId: string
  readonly request: string
  readonly holder: string
}

export type WriteStep =
  | KeepRequest
  | WriteRecord
  | LockBudget
  | UnlockBudget
  | CordonNode
  | AskResponders
  | WithdrawAsks

/** Add our finalizer, so that deleting the request waits for us; or let it go. */
export interface KeepRequest extends Step {
  readonly do: 'write'
  readonly what: 'add-finalizer' | 'drop-finalizer'
}

export interface WriteRecord extends Step {
  readonly do: 'write'
  readonly what: 'record'
  readonly record: DisruptionRecord
  readonly words: RecordWords
}

/** What is said of the request beside its record. */
export type RecordWords = Pick<DisruptionDecision, 'reason' | 'explanation' | 'blockedBy' | 'warnings'>

/** Fails when the budget allows no disruption. */
export interface LockBudget extends Step {
  readonly do: 'write'
  readonly what: 'lock'
  readonly budget: BudgetReference
  readonly pods: readonly string[]
  readonly hold: BudgetHold
  readonly mode: DrainLockSettings['mode']
}

export interface UnlockBudget extends Step {
  readonly do: 'write'
  readonly what: 'unlock'
  readonly budget: BudgetReference
  readonly requestId: string
  readonly epoch: number
}

export interface CordonNode extends Step {
  readonly do: 'write'
  readonly what: 'cordon' | 'uncordon' | 'forget-cordon'
  readonly nodeName: string
  readonly nodeUid: string
  /** Decided on this version of the node; undefined: on none. */
  readonly nodeVersion: string | undefined
  readonly requestId: string
}

/** Have the responders that the pods name move them. What is refused is part of the next snapshot. */
export interface AskResponders extends Step {
  readonly do: 'write'
  readonly what: 'ask-responders'
  readonly pods: readonly PodReference[]
  readonly requestId: string
}

export interface WithdrawAsks extends Step {
  readonly do: 'write'
  readonly what: 'withdraw-asks'
  readonly asks: readonly EvictionAsk[]
  readonly requestId: string
}

export interface EvictPods extends Step {
  readonly do: 'evict'
  readonly pods: readonly PodReference[]
  readonly token: EvictionToken
  /** Undefined: each pod has its own. */
  readonly gracePeriodSeconds?: number
}

export interface ReportPass extends Step {
  readonly do: 'report'
  readonly reason: Reason
  readonly explanation: string
  readonly node: { readonly name: string; readonly uid: string } | undefined
  /** How long the request waited until its node was allowed to go, where that is now. */
  readonly waitedMs: number | undefined
}
