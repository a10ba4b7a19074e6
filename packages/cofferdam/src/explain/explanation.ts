import type { DrainDecision } from '../capabilities/drain-detection/domain/decide.ts'
import type { DisruptionAnswer } from '../capabilities/drain-lock/view/explain-disruption.ts'
import type { StayAnswer } from '../capabilities/drain-lock/view/explain-stay.ts'
import type { HoldAnswer } from '../capabilities/drain-lock/view/hold-view.ts'
import type { LonghornAnswer } from '../capabilities/longhorn-drain/view/longhorn-answer.ts'
import type { OsdUpdateAnswer } from '../capabilities/osd-update/view/explain-osd-update.ts'
import type { Blocker } from '../shared/blocker.ts'
import type { CoveredPod } from '../shared/covered-pod.ts'
import type { StorageAnswer } from '../shared/storage-answer.ts'

/**
 * `goes`: now. `in-turn`: when another pod of its budget is back, as a drain expects. `waits`: something stands in its
 * way. `leaving`: it is going already. `stays`: a drain leaves it where it is.
 */
export type PodVerdict = 'goes' | 'in-turn' | 'waits' | 'leaving' | 'stays'

/** The kubectl drain flag that is needed before it touches such a pod. */
export type DrainFlag = '--delete-emptydir-data' | '--force' | '--ignore-daemonsets'

export interface PodAnswer {
  /** `shop/orders-0` */
  readonly pod: string
  readonly node?: string
  readonly verdict: PodVerdict
  readonly reason: string
  readonly explanation: string
  /** The budgets that cover it: `shop/orders`. */
  readonly budgets: readonly string[]
  readonly needs: readonly DrainFlag[]
  /** Present where it asks to stay through a reboot. */
  readonly stay?: StayAnswer
}

export interface BudgetAnswer {
  /** `shop/orders` */
  readonly budget: string
  /** What it demands, in words: `at least 2 up`. */
  readonly rule: string
  /** How many pods may be evicted now. */
  readonly allowed: number
  readonly healthy: number
  readonly desired: number
  readonly expected: number
  readonly reason: string
  readonly explanation: string
}

export interface NodeState {
  readonly isReady: boolean
  readonly notReadyReason?: string
  readonly notReadySince?: string
  /** By a cordon, or by the taint of a tool that drains. */
  readonly isCordoned: boolean
  /** What closes it, each by a name: `cordon`, `taint karpenter.sh/disrupted (Karpenter)`. Left out while it is open. */
  readonly closedBy?: readonly string[]
  /** The tool that cordoned it, where its managed fields say. */
  readonly cordonedBy?: string
  readonly cordonedSince?: string
  /** As drain detection decides it. */
  readonly drain: DrainDecision['reason']
  readonly drainSince?: string
}

export interface Explanation {
  /** `node/worker-a1` */
  readonly object: string
  readonly mayGo: boolean
  readonly summary: string
  readonly blockers: readonly Blocker[]
  /** Who holds or waits for what concerns it. */
  readonly holds: readonly HoldAnswer[]
  /** What is said of its node where Longhorn has a part in it. */
  readonly longhorn?: LonghornAnswer
  /** The circle of waits that it is in; left out where there is none, or where it was not asked for. */
  readonly wedge?: Wedge
}

export interface NodeExplanation extends Explanation {
  /** Requests for the node that are not over. */
  readonly disruptions: readonly DisruptionAnswer[]
  readonly node: NodeState
  readonly pods: readonly PodAnswer[]
  readonly storage: readonly StorageAnswer[]
  /** The drain that goes through, as a command line. */
  readonly command: string
}

export interface PodExplanation extends Explanation {
  readonly pod: PodAnswer
  /** For the pod of an OSD: how far its update is. */
  readonly osdUpdate?: OsdUpdateAnswer
}

export interface BudgetExplanation extends Explanation {
  readonly budget: BudgetAnswer
  /** Every pod that the budget covers. */
  readonly pods: readonly CoveredPod[]
}

/** Things that wait for each other in a circle: none of them ends by itself. */
export interface Wedge {
  /** Each waits for the next, and the last for the first. */
  readonly circle: readonly WedgeLink[]
  /** The least harmful way out, as a command. */
  readonly wayOut: string
  /** What that costs. */
  readonly cost: string
}

export interface WedgeLink {
  /** `node/worker-a1`, `pod/shop/orders-0`, `pdb/shop/orders` */
  readonly object: string
  /** What it waits for, after its name. */
  readonly says: string
}
