import { durationText, parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { goneWords, isOver } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import type { DisruptionPlan } from '../../capabilities/drain-lock/view/plan-disruption.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import type { Followed } from './drain-follow.ts'

export type DrainOutcome =
  /** Nothing is left on the node but what stays. */
  | 'drained'
  /** The node was back or gone before anybody could say that it may go. */
  | 'completed'
  | 'rejected'
  /** Somebody deleted the request meanwhile. */
  | 'cancelled'
  | 'blocked'
  | 'timed-out'
  | 'interrupted'
  /** The request was created, and not waited for. */
  | 'requested'

export interface DrainResult {
  readonly outcome: DrainOutcome
  /** Whether it was under way before. */
  readonly isJoined: boolean
  readonly disruption: DisruptionAnswer
  readonly observedAt: string
  /** Of a node that can be rebooted now; left out where it is not known, or nothing keeps remediation from it. */
  readonly protection?: RebootProtection
  /** What to do now, line by line. */
  readonly next: readonly string[]
}

/** How long remediation leaves a node alone. */
export interface RebootProtection {
  /** Counted from when it stops being Ready: `1h`. */
  readonly returnWithin: string
  /** It ends then at the latest. */
  readonly deadline?: string
}

/** What a request would do, from reading alone. */
export interface PlannedDrain {
  /** `refused`: pods would be destroyed that nobody asked to lose, so no request was made. */
  readonly outcome: 'planned' | 'refused'
  readonly observedAt: string
  /** The request that is under way and was rehearsed. */
  readonly underWay?: string
  readonly plan: DisruptionPlan
  readonly notSeen: readonly string[]
  /** With `--dry-run=server`: what it answered. */
  readonly server?: readonly ServerAnswer[]
}

/** What the API server answered to a write that it did not store. */
export interface ServerAnswer {
  readonly object: string
  readonly act: 'create' | 'evict'
  readonly isAccepted: boolean
  readonly says?: string
}

export type DrainAnswer = DrainResult | PlannedDrain

/** Of several nodes. */
export interface DrainBatch {
  /** Which can be away together, in this order. */
  readonly waves: readonly (readonly string[])[]
  readonly drains: readonly DrainAnswer[]
  readonly observedAt: string
  /** Of a plan that was not carried out to its end: how it ended, and what to do. */
  readonly ended?: { readonly how: 'blocked' | 'timed-out'; readonly says: string }
}

const codes: Record<DrainOutcome, ExitCode> = {
  drained: exitCodes.done,
  completed: exitCodes.done,
  requested: exitCodes.done,
  rejected: exitCodes.blocked,
  cancelled: exitCodes.blocked,
  blocked: exitCodes.blocked,
  'timed-out': exitCodes.timedOut,
  interrupted: exitCodes.timedOut,
}

export function drainExitCode(answer: DrainAnswer | DrainBatch): ExitCode {
  if ('drains' in answer) return batchExitCode(answer)
  if (!('plan' in answer)) return codes[answer.outcome]
  const { outcome, plan, server = [] } = answer
  const mayBegin = outcome === 'planned' && plan.mayBegin && server.every(({ isAccepted }) => isAccepted)
  return mayBegin ? exitCodes.done : exitCodes.blocked
}

/** What has to be dealt with counts more than what only takes longer. */
function batchExitCode({ drains, ended }: DrainBatch): ExitCode {
  if (ended !== undefined) return codes[ended.how]
  const all = drains.map(drainExitCode)
  if (all.includes(exitCodes.blocked)) return exitCodes.blocked
  return all.includes(exitCodes.timedOut) ? exitCodes.timedOut : exitCodes.done
}

/** Whether there is nothing more to wait for. One that recovers may have been given up with its pods in place: its end says so. */
export function isDrainSettled(answer: DisruptionAnswer): boolean {
  return answer.phase === 'Drained' || isOver(answer)
}

export function drainOutcome({ answer, ended, reachedIn }: Followed): DrainOutcome {
  if (ended === 'gone') return 'cancelled'
  // It was drained, and went on while others were waited for.
  if (reachedIn === 'Drained' && answer.phase === 'Recovering') return 'drained'
  if (answer.phase === 'Rejected') return 'rejected'
  if (answer.phase === 'Drained') return 'drained'
  if (answer.phase === 'Completed') return 'completed'
  if (ended === 'reached') return answer.isBlocked ? 'blocked' : 'timed-out'
  return ended
}

/** `remediationWaitsMs`: as the operator has it for requests that do not say; undefined where nothing keeps remediation from nodes. */
export function protectionOf(
  outcome: DrainOutcome,
  { phase, intent, returnWithin = '', deadline }: DisruptionAnswer,
  remediationWaitsMs: number | undefined,
): Pick<DrainResult, 'protection'> {
  if (outcome !== 'drained' || phase !== 'Drained' || intent !== 'Reboot' || remediationWaitsMs === undefined) return {}
  const asked = durationText(parseDuration(returnWithin) ?? remediationWaitsMs)
  return { protection: { returnWithin: asked, ...(deadline === undefined ? {} : { deadline }) } }
}

/** What people can do now. */
export function nextSteps(outcome: DrainOutcome, { node, request, intent, phase }: DisruptionAnswer): string[] {
  const watch = `watch it:  kubectl get nodedisruption ${request} -w, or cofferdam explain nodedisruption/${request}`
  const cancel = `cancel it: cofferdam uncordon ${node}`
  switch (outcome) {
    case 'drained':
      // One that is back must not be rebooted once more.
      if (phase !== 'Drained') return []
      return [
        `${node} is drained and can be ${goneWords[intent]} now; run \`cofferdam uncordon ${node}\` if you do not ${intent.toLowerCase()} it`,
      ]
    case 'completed':
      return []
    case 'rejected':
    case 'cancelled':
      return [`try again: cofferdam drain ${node}`]
    default:
      return ['the request stays, and continues by itself', watch, cancel]
  }
}
