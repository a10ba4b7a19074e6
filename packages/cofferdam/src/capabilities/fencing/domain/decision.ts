import type { Reason } from '../../../shared/reasons.ts'
import type { OutageNote, PlannedOutage } from './planned-outages.ts'
import type { RemediatorView } from './snapshot.ts'

/** Which machines may be fenced, by whom, and why. */
export interface FencingDecision {
  readonly clusters: readonly ClusterAnswer[]
  /** Labels that machines should carry or not; only those that change. */
  readonly labels: readonly LabelChange[]
  /** Annotations for remediators; only what changes. */
  readonly gates: readonly GateChange[]
  /** For every node with an OSD that runs or ran, or that is rebooted on plan: may its machine be fenced now? In the order of their names. */
  readonly nodes: readonly FenceAnswer[]
  /** Budgets of ours whose cluster is gone or not ours any more. */
  readonly orphanBudgets: readonly { readonly namespace: string; readonly name: string }[]
  /** What is held in the ledger while a fence is under way. */
  readonly fences: readonly Fence[]
  /** Nodes that are rebooted on plan, and those that did not come back from that in time. */
  readonly outages: readonly PlannedOutage[]
  /** What is to be noted on requests; only what changes. */
  readonly outageNotes: readonly OutageNote[]
  readonly problems: readonly { readonly object: string; readonly problem: string }[]
  /** When to reconcile again although nothing changed. */
  readonly recheckAfterSeconds: number
}

export interface ClusterAnswer {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** The budget there should be; undefined: none, what is ours goes. */
  readonly budget: WantedMachineBudget | undefined
  readonly reason: Reason
  readonly explanation: string
}

export interface WantedMachineBudget {
  readonly namespace: string
  readonly name: string
  readonly labelKey: string
  readonly maxUnavailable: 0 | 1
  /** As a remediator reads it. See docs/fencing.md for the arithmetic. */
  readonly status: {
    readonly disruptionsAllowed: number
    readonly currentHealthy: number
    readonly desiredHealthy: number
    readonly expectedMachines: number
    /** Machines that are not back yet. */
    readonly disrupted: readonly string[]
  }
}

export interface LabelChange {
  readonly api: 'openshift' | 'cluster-api'
  readonly namespace: string
  readonly machine: string
  readonly add: Readonly<Record<string, string>>
  readonly remove: readonly string[]
  /** Keys that are ours when this is done, to be written beside them. */
  readonly ours: readonly string[]
  readonly explanation: string
}

export type GateChange =
  | { readonly kind: 'hold-lease' | 'free-lease'; readonly node: string; readonly explanation: string }
  | {
      readonly kind: 'pause' | 'resume'
      readonly remediator: string
      readonly remediatorKind: RemediatorView['kind']
      readonly explanation: string
    }
  | {
      /** `skip`: Cluster API leaves it alone. `hook`: OpenShift does not terminate it. */
      readonly kind: 'skip-machine' | 'unskip-machine' | 'hook-machine' | 'unhook-machine'
      readonly namespace: string
      readonly machine: string
      readonly explanation: string
    }

export interface FenceAnswer {
  readonly node: string
  readonly machine: string | undefined
  readonly mayFence: boolean
  readonly reason: Reason
  readonly explanation: string
  /** What would change it. */
  readonly wayOut: string
}

/** A fence that was let through and is not over. */
export interface Fence {
  readonly cluster: { readonly namespace: string; readonly name: string; readonly uid: string }
  readonly node: string
  readonly machine: string
  /** Its failure domain, as the storage key is scoped. */
  readonly scope: string
  /** As it is on record, where that is another: it was not known then, or Ceph has been told to spread copies over another type. */
  readonly formerScope?: string
  readonly bootID: string
  readonly sinceMs: number
  /** When its machine was first seen to be gone. */
  readonly goneMs?: number
  /** Ended: the record and the entry in the budget may go, and the key is released. */
  readonly isOver: boolean
}
