import type { PodLoss } from '../../capabilities/drain-lock/domain/snapshot.ts'
import type { DrainPlan } from '../../capabilities/drain-lock/view/plan-drain.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'

/** What `cofferdam plan drain -o json` prints, and `cofferdam drain --plan` carries out. */
export interface DrainPlanFile extends DrainPlan {
  /** As of when it was made. */
  readonly observedAt: string
  readonly server: string
  /** What it is a plan of. */
  readonly asked: PlannedRequest
  /** What could not be read: the plan rests on the rest. */
  readonly notSeen: readonly string[]
}

/** What is asked of every node alike. */
export interface PlannedRequest {
  readonly intent: NodeDisruption['spec']['intent']
  readonly honourSkipDrain: boolean
  readonly accepts: readonly PodLoss[]
}
