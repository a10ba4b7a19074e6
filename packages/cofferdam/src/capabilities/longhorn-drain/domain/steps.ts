import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Step } from '../../../shared/steps.ts'
import type { ClosingChange } from './closing-change.ts'
import type { LonghornDecision } from './decision.ts'
import type { FormerTicket } from './former-tickets.ts'
import type { GuidanceStep } from './guidance-decision.ts'
import type { MovingChange } from './moving-record.ts'
import type { RevertedWrite } from './reverted-writes.ts'
import type { LonghornDrainSettings } from './snapshot.ts'

/** What one pass over all of Longhorn does. A write that is refused stops no other of its step, nor the steps after it. */
export type LonghornStep = AskLonghorn | LonghornWrite | LonghornReportStep

/** `watches`: see what has come of the writes. `server`: list everything that protects a copy at the API server. */
export interface AskLonghorn extends Step {
  readonly do: 'ask'
  readonly from: 'watches' | 'server'
}

/** Against the version that was seen: what changed since is refused, and judged again. */
export interface Seen {
  readonly resourceVersion: string | undefined
}

export type LonghornWrite = Step & { readonly do: 'write' } & (
    | { readonly what: 'budgets'; readonly writes: readonly BudgetWrite[] }
    /** Taken back. */
    | { readonly what: 'tickets'; readonly tickets: readonly (FormerTicket & Seen)[] }
    | { readonly what: 'surplus'; readonly replicas: readonly SurplusReplica[] }
    | { readonly what: 'moving'; readonly changes: readonly MovingChange[] }
    | { readonly what: 'guidance'; readonly changes: readonly (GuidanceStep & Seen)[] }
    /** Decided again on each node as the API server has it. */
    | { readonly what: 'closing'; readonly changes: readonly ClosingChange[] }
  )

export type GuidanceWrite = Extract<LonghornWrite, { readonly what: 'guidance' }>

export interface SurplusReplica {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

export type LonghornReportStep = Step & { readonly do: 'report' } & (
    | { readonly what: 'mode'; readonly mode: LonghornDrainSettings['mode'] }
    /** What somebody else undid of what we wrote; and remember what of ours is there. */
    | { readonly what: 'own-writes'; readonly reverted: readonly RevertedWrite[] }
    | {
        readonly what: 'decision'
        readonly nodes: LonghornDecision['nodes']
        readonly problems: LonghornDecision['problems']
        /** Why replicas cannot leave, by volume; what the API server refused comes to it. */
        readonly failedEvictions: ReadonlyMap<string, string>
        readonly surplusKept: ReadonlyMap<string, string>
      }
    /** Which Longhorn is meant is not known. */
    | { readonly what: 'several-places'; readonly problem: string; readonly settings: readonly LonghornSetting[] }
    /** What the API server refused for want of rights. */
    | { readonly what: 'refusals' }
  )
