import type { Claim } from '../../../ledger/rules/claim.ts'
import type { Aside } from '../../../ledger/rules/queue.ts'
import type { BudgetReference, PodReference } from '../../../shared/object-references.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { EvictionAsk } from './responder-facts.ts'
import type { DisruptionRecord } from './snapshot.ts'

/**
 * What to do next, one after the other; whoever does it stops at the first that fails, and reconciles again.
 *
 * Every step can be done twice: the second time changes nothing.
 */
export type DisruptionStep =
  /** Ask the ledger for all claims at once. When it says no, the request waits with a ticket and holds nothing. */
  | { readonly step: 'take'; readonly claims: readonly Claim[] }
  /** Keep the place in the queue, and let others go first or not meanwhile. */
  | { readonly step: 'queue'; readonly claims: readonly Claim[]; readonly aside: Aside | undefined }
  /** Carry on what an earlier holder of the same request held; its epoch is void from then on. */
  | { readonly step: 'adopt' }
  | { readonly step: 'renew'; readonly epoch: number }
  /** Write the record before what it speaks of is done. */
  | { readonly step: 'record'; readonly record: DisruptionRecord }
  /** Make the budget hold for the pods that stay: by the mode of the settings. Fails when it allows no disruption. */
  | {
      readonly step: 'lock'
      readonly budget: BudgetReference
      readonly pods: readonly string[]
      readonly untilMs: number
      readonly epoch: number
    }
  | { readonly step: 'unlock'; readonly budget: BudgetReference }
  /** The last snapshot was fresh and everything holds: the node may go. */
  | { readonly step: 'intend'; readonly epoch: number; readonly bootID: string }
  | { readonly step: 'cordon' }
  | { readonly step: 'uncordon' }
  /** The cordon is gone, so its mark goes too. */
  | { readonly step: 'forget-cordon' }
  | { readonly step: 'evict'; readonly pods: readonly PodReference[]; readonly epoch: number }
  /** Break the locks of others, as the break-glass annotation asks. */
  | { readonly step: 'break'; readonly keys: readonly string[]; readonly by: string; readonly reason: string }
  | { readonly step: 'release'; readonly epoch: number }
  /** Release the budgets of pods that run again, and go on to hold the rest. */
  | { readonly step: 'release-budgets'; readonly epoch: number; readonly keys: readonly string[] }
  /** Release what was granted, and keep the place in the queue. */
  | { readonly step: 'step-back'; readonly epoch: number; readonly aside: Aside | undefined }
  | { readonly step: 'withdraw' }
  /** Let go of a request that somebody deleted. */
  | { readonly step: 'finish' }

/** The next steps of one disruption, and what is said of it meanwhile. */
export interface DisruptionDecision {
  readonly reason: Reason
  /** One or two sentences with names. */
  readonly explanation: string
  readonly record: DisruptionRecord
  readonly steps: readonly DisruptionStep[]
  readonly responders?: ResponderOrder
  readonly blockedBy: readonly DisruptionBlocker[]
  readonly warnings: readonly DisruptionWarning[]
  readonly recheckAfterMs: number | undefined
}

/** What is wanted of the responders that pods name. They are asked after all steps; an ask is withdrawn before the first. */
export type ResponderOrder = { readonly ask: readonly PodReference[] } | { readonly withdraw: readonly EvictionAsk[] }

export interface DisruptionBlocker {
  /** `pdb/shop/web`, `node/node-a`, `storage/rook-ceph/rook-ceph`, `pod/shop/web-0` */
  readonly object: string
  readonly holder: string
  readonly since: string
  readonly reason: Reason
  readonly wayOut: string
  /** Pods that cannot leave the node because of it: `shop/web-0`. */
  readonly pods?: readonly string[]
}

/** Something about one object that the requester should know; it blocks nothing. */
export interface DisruptionWarning {
  readonly object: string
  readonly says: string
}
