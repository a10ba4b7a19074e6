import type { Observed } from '../../../shared/observed.ts'
import type { OsdUpdateDecision } from './decision.ts'
import { namesOf } from './proposed-starts.ts'

/** After Ceph refused, when no event says that it would agree. */
const recheckSeconds = 15
/** Each question costs the mgr a scan of all placement groups. */
const longestWaitSeconds = 120

/** As long again as it has lasted, within limits. */
export function secondsAfterRefusal(refusedForMs: number): number {
  return Math.min(Math.max(Math.floor(refusedForMs / 1_000), recheckSeconds), longestWaitSeconds)
}

/** The decision where Ceph does not call it safe to stop these. Assumes: in `decision.progress` nothing of it has begun. */
export function refusedByCeph(
  decision: OsdUpdateDecision,
  given: {
    readonly answer: Observed<boolean>
    readonly asked: readonly number[]
    /** For how long now; undefined while others are restarting, whose return may change it. */
    readonly refusedForMs: number | undefined
  },
): OsdUpdateDecision {
  const { answer, asked, refusedForMs = 0 } = given
  const words: Pick<OsdUpdateDecision, 'reason' | 'explanation'> = answer.known
    ? {
        reason: 'CephDisagrees',
        explanation: `Ceph does not call it safe to stop ${namesOf(asked)} together, and nothing starts until it does`,
      }
    : { reason: 'SafetyUnknown', explanation: `nothing starts without Ceph's ok-to-stop check: ${answer.why}` }
  return { ...decision, ...words, start: [], recheckAfterSeconds: secondsAfterRefusal(refusedForMs) }
}
