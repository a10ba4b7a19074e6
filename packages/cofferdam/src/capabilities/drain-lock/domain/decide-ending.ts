import { nodeKey } from '../../../ledger/rules/keys.ts'
import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import { obstacleBlocker } from './claims.ts'
import { withdrawal } from './decide-responders.ts'
import type { DisruptionDecision, DisruptionStep } from './decision.ts'
import {
  budgetsToFree,
  type Conclusion,
  conclude,
  type DisruptionView,
  goOn,
  ownNode,
  recordSteps,
  unlockSteps,
} from './disruption-view.ts'
import { isOwnCordon, withLiftedCordon } from './own-cordon.ts'

export interface Ending extends Pick<Conclusion, 'reason' | 'explanation' | 'warnings'> {
  readonly phase: 'Completed' | 'Rejected'
}

/**
 * Ends a request that has done nothing, or whose doing is over: everything of it is released, and the record says so.
 *
 * Assumes: no key of the request has been acted upon, or what was done under it has ended.
 */
export function decideEnding(view: DisruptionView, ending: Ending): DisruptionDecision {
  const { request, record, held, ticket } = view
  const { phase, ...said } = ending
  const words = { ...said, ...withdrawal(view) }
  const over = record.phase === phase ? record : { ...withLiftedCordon(view), phase, epoch: undefined }
  const cordon = cordonToLift(view)
  const steps: DisruptionStep[] = cordon === 'ours' ? [{ step: 'uncordon' }] : []
  if (isOpenWithMark(view)) steps.push({ step: 'forget-cordon' })
  steps.push(...unlockSteps(budgetsToFree(view)))
  if (held !== undefined) steps.push({ step: 'release', epoch: held.epoch })
  if (ticket !== undefined) steps.push({ step: 'withdraw' })
  // Whoever reads on record that the node may go must not read it any more once a lock is released.
  if (steps.length > 0) steps.unshift(...recordSteps(view, record))
  if (typeof cordon === 'object') return goOn(view, { ...words, steps, blockedBy: [obstacleBlocker(view, cordon)] })
  // With nothing held, only the record remembers that the cordon is ours.
  if (cordon === 'ours' && held === undefined) return goOn(view, { ...words, steps })
  if (request.isCancelled) return goOn(view, { ...words, steps: [...steps, { step: 'finish' }] })
  if (steps.length === 0) return conclude(view, { ...words, record: over })
  if (over !== request.record) steps.push({ step: 'record', record: over })
  return goOn(view, { ...words, steps, record: over })
}

/** Our cordon, if it still stands; or whoever has taken the node since, who must be done with it first. */
function cordonToLift(view: DisruptionView): 'none' | 'ours' | LedgerEntry {
  const { record, ledger, request, held } = view
  const node = ownNode(view)
  // Once the request was over, whoever cordoned the node was somebody else.
  const isOver = (record.phase === 'Completed' || record.phase === 'Rejected') && held === undefined
  if (isOver || node === undefined || !node.isCordoned || !isOwnCordon(view)) return 'none'
  const key = nodeKey(request.nodeName)
  return ledger.entries.find((entry) => entry.key === key && entry.requestId !== request.id) ?? 'ours'
}

/** Somebody else opened the node. Were the mark to stay, a cordon that they set later would be taken for ours. */
function isOpenWithMark(view: DisruptionView): boolean {
  const node = ownNode(view)
  return node?.isCordoned === false && node.cordonedBy === view.request.id
}
