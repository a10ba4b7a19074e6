import type { Attendance } from '../../../shared/attendance.ts'
import type { FencingDecision } from '../domain/decision.ts'
import type { FencingSnapshot } from '../domain/snapshot.ts'

/** Which machines may be fenced, as far as that can be told from what is written down. */
export interface FencingView extends Attendance {
  readonly snapshot: FencingSnapshot
  readonly decision: FencingDecision
}
