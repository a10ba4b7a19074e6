import { claimsFor, hasTicketFor, obstacleBlocker, obstaclesTo, waitingSince } from './claims.ts'
import { decideLocking } from './decide-locking.ts'
import { decideRecovered, effectsLeft } from './decide-recovering.ts'
import type { DisruptionDecision, DisruptionStep } from './decision.ts'
import type { DisruptionEnding } from './disruption-ending.ts'
import { bootThatGoes, type DisruptionView, goOn, ownNode, retryMs, withRecord } from './disruption-view.ts'
import { planPods } from './plan-pods.ts'
import { withoutReleased } from './release-budgets.ts'

/**
 * The record says that the node may go, and the ledger has no such entry: it was wiped, or somebody broke it.
 *
 * While the node has not gone, everything begins anew. When it has, its keys are taken again as they were, and the intent is
 * written again with the boot on record; and so it is, gone or not, where the keys are there and the intent alone is missing:
 * whoever reads that the node may go can take it down at any moment, and the pods that stay count on their budgets.
 *
 * Guarantees: nothing is evicted, and no node that is away is uncordoned with nothing held.
 */
export function decideLost(view: DisruptionView, ending: DisruptionEnding | undefined): DisruptionDecision {
  const { held, record, snapshot, request } = view
  const node = ownNode(view)
  const before = bootThatGoes(view)
  const isUp = node?.isReady === true
  const hasNotGone = isUp && (before === undefined || node.bootID === before)
  const isIntentMissing = held !== undefined && record.epoch !== undefined && held.epoch >= record.epoch
  if (ending === undefined && hasNotGone && !isIntentMissing) {
    // A node that may go can be on its way down already: its boot stays on record, so that another one is known for the reboot.
    const bootIDBefore = record.phase === 'Drained' ? before : undefined
    return decideLocking({ ...view, record: withRecord(record, { phase: 'Waiting', bootIDBefore }) })
  }
  // Keys that were only granted cover nothing that was done.
  if (ending !== undefined && effectsLeft(view).length === 0) return decideRecovered(view, ending)
  if (held !== undefined) {
    const explanation = `The intent for ${request.nodeName} is written again: the ledger had lost it.`
    const steps: DisruptionStep[] = [{ step: 'intend', epoch: held.epoch, bootID: before ?? node?.bootID ?? '' }]
    return goOn(view, { reason: 'LedgerLost', explanation, steps })
  }
  const plan = planPods({
    seen: snapshot,
    hasFallenBack: record.hasFallenBack,
    bound: record.skippedPods,
    isPatienceOver: false,
  })
  const named = node ?? { name: request.nodeName, uid: record.nodeUid ?? '' }
  const claims = claimsFor(named, snapshot.storage, withoutReleased(plan.locks, record))
  const obstacles = obstaclesTo(view, claims)
  return goOn(view, {
    reason: 'LedgerLost',
    explanation: `The ledger has no record of what ${request.name} held for ${request.nodeName}; it is requested again before anything continues.`,
    steps: obstacles.length > 0 && hasTicketFor(view, claims) ? [] : [{ step: 'take', claims }],
    blockedBy:
      obstacles.length > 0
        ? obstacles.map((obstacle) => obstacleBlocker(view, obstacle))
        : [
            {
              object: 'disruptionledger/cluster',
              holder: 'nobody',
              since: waitingSince(view),
              reason: 'LedgerLost',
              wayOut: 'It is requested again at once.',
            },
          ],
    recheckAfterMs: retryMs,
  })
}
