import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { decideActing } from './decide-acting.ts'
import { decideEnding } from './decide-ending.ts'
import { decideLocking } from './decide-locking.ts'
import type { DisruptionDecision } from './decision.ts'
import {
  bootThatGoes,
  type DisruptionView,
  goOn,
  hasRebooted,
  missedDeadline,
  ownNode,
  retryMs,
  viewOf,
} from './disruption-view.ts'
import type { DisruptionPhase, DisruptionSnapshot } from './snapshot.ts'

/**
 * Decides the next steps of one disruption.
 *
 * What the ledger says counts more than what the record says: a request that has begun is one whose entries say so, or
 * whose record does while the ledger has lost them. Nothing is evicted, cordoned or released but by whoever holds the
 * entries under the epoch of the day.
 *
 * The record of the decision is what shall stand when the round is over. It may be written even if a step failed: whatever it
 * says too early is noticed with the next snapshot. What must be written before a step is a step of its own.
 *
 * Guarantees: total; a request that waits holds nothing; keys are released only when what was done under them has ended.
 * Fails closed: without the ledger nothing is begun, and nothing is released.
 */
export function decideDisruption(snapshot: DisruptionSnapshot): DisruptionDecision {
  const { ledger } = snapshot
  if (!ledger.known) return decideWithoutLedger(snapshot, ledger.why)
  const view = viewOf(snapshot, ledger.value)
  const { held, record, request } = view
  if (held?.isForeign === true) return adoptFirst(view, held.holder)
  if (held?.hasBegun === true || hasBegunByRecord(view)) return decideActing(view)
  if (isTerminal(record.phase)) return decideEnding(view, { phase: record.phase, ...explainTerminal(view) })
  if (request.isCancelled) {
    const explanation = `${request.name} was deleted before anything was done to ${request.nodeName}.`
    return decideEnding(view, { phase: 'Rejected', reason: 'DisruptionCancelled', explanation })
  }
  const bootID = bootSinceMayGo(view)
  if (bootID !== undefined) {
    const explanation = `${request.nodeName} was rebooted after ${request.name} had said that it may go; it is in boot ${bootID} now.`
    return decideEnding(view, { phase: 'Completed', reason: 'DisruptionCompleted', explanation })
  }
  return decideLocking(view)
}

/**
 * The boot that the node is in, where it has left the one in which the request said that it may go. An override took the node meanwhile, and it
 * came back for that one: whoever reads requests has rebooted it, and does not reboot it again.
 */
function bootSinceMayGo(view: DisruptionView): string | undefined {
  const node = ownNode(view)
  if (view.held !== undefined || view.request.intent !== 'Reboot' || node?.isReady !== true) return undefined
  return hasRebooted(view, node) ? node.bootID : undefined
}

/** The record of an intent is written before the intent, so a record without the boot that goes speaks of none. */
function hasBegunByRecord(view: DisruptionView): boolean {
  const { phase } = view.record
  if (phase === 'Recovering') return true
  return (phase === 'Draining' || phase === 'Drained') && bootThatGoes(view) !== undefined
}

function isTerminal(phase: DisruptionPhase): phase is 'Completed' | 'Rejected' {
  return phase === 'Completed' || phase === 'Rejected'
}

function adoptFirst(view: DisruptionView, holder: string): DisruptionDecision {
  const { name } = view.request
  return goOn(view, {
    reason: 'RequestAdopted',
    explanation: `What ${holder} held for ${name} is carried on by ${view.snapshot.holder}.`,
    steps: [{ step: 'adopt' }],
  })
}

function explainTerminal(view: DisruptionView): Pick<DisruptionDecision, 'reason' | 'explanation'> {
  const { request, record } = view
  const { name, nodeName } = request
  if (request.isCancelled) {
    return { reason: 'DisruptionCancelled', explanation: `${name} has ended and was deleted; it releases ${nodeName}.` }
  }
  if (record.phase === 'Completed') {
    return { reason: 'DisruptionCompleted', explanation: `${nodeName} is back or gone, and nothing is held for it.` }
  }
  const missedMs = missedDeadline(view)
  if (missedMs !== undefined) {
    const deadline = rfc3339(missedMs)
    return { reason: 'DeadlinePassed', explanation: `${name} missed its deadline ${deadline}; nothing is held for it.` }
  }
  if (ownNode(view) === undefined) {
    const explanation = `Node ${nodeName} of ${name} does not exist. Create a request for an existing node.`
    return { reason: 'NodeUnknown', explanation }
  }
  return { reason: 'DisruptionRejected', explanation: `${name} was abandoned. Create a new request to try again.` }
}

function decideWithoutLedger(snapshot: DisruptionSnapshot, why: string): DisruptionDecision {
  const { request } = snapshot
  const wayOut = `It is read again every ${retryMs / 1000} s: ${why}.`
  return {
    reason: 'LedgerUnknown',
    explanation: `Nothing is started and nothing is released for ${request.nodeName}: ${why}.`,
    record: request.record,
    steps: [],
    blockedBy: [
      {
        object: 'disruptionledger/cluster',
        holder: 'not known',
        since: rfc3339(request.createdMs),
        reason: 'LedgerUnknown',
        wayOut,
      },
    ],
    warnings: [],
    recheckAfterMs: retryMs,
  }
}
