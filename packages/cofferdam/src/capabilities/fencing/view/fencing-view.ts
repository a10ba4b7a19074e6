import type { Attendance } from '../../../shared/attendance.ts'
import type { FencingDecision } from '../domain/decision.ts'
import type { FencingSnapshot } from '../domain/snapshot.ts'

/** Which machines may be fenced, as far as the records say. */
export interface FencingView extends Attendance {
  readonly snapshot: FencingSnapshot
  readonly decision: FencingDecision
}
