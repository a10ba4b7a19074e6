import {
  type DisruptionAnswer,
  type DisruptionObstacle,
  explainDisruption,
} from '../capabilities/drain-lock/view/explain-disruption.ts'
import { explainHolds, type HoldView } from '../capabilities/drain-lock/view/hold-view.ts'
import type { Blocker } from '../shared/blocker.ts'
import type { NodeDisruption } from '../shared/kinds/node-disruption.ts'
import { type Reason, reasons } from '../shared/reasons.ts'
import type { Explanation } from './explanation.ts'

export interface RequestExplanation extends Explanation {
  readonly disruption: DisruptionAnswer
}

/** What others hold, so that breaking glass helps. */
const locks: readonly string[] = [
  'AppLocked',
  'EarlierRequest',
  'HeldByRequest',
  'NodeTakesCopies',
] satisfies readonly Reason[]

/** How far a request has come, what it holds, and what stands in its way. */
export function explainRequest(request: NodeDisruption, holds: HoldView): RequestExplanation {
  const disruption = explainDisruption(request)
  const { uid = '' } = request.metadata
  const ledger = holds.ledger.known ? holds.ledger.value : undefined
  const own = ledger?.entries.filter(({ requestId }) => requestId === uid).map(({ key }) => key) ?? []
  const wanted = ledger?.tickets.find(({ requestId }) => requestId === uid)?.claims.map(({ key }) => key) ?? []
  const keys = new Set([...own, ...wanted])
  return {
    object: `nodedisruption/${disruption.request}`,
    mayGo: !disruption.isBlocked && disruption.phase !== 'Rejected',
    summary: `${disruption.phase}: ${disruption.explanation}`,
    blockers: disruption.isBlocked ? disruption.blockedBy.map((each) => blockerOf(each, disruption)) : [],
    holds: explainHolds(holds, (key) => keys.has(key)),
    disruption,
  }
}

function blockerOf({ object, holder, since, reason, wayOut }: DisruptionObstacle, { node }: DisruptionAnswer): Blocker {
  const explanation = (reasons as Readonly<Record<string, string>>)[reason] ?? reason
  const cancel = `cofferdam uncordon ${node} cancels the request`
  return {
    object,
    reason,
    explanation,
    holder,
    ...(since === undefined ? {} : { since }),
    causes: [],
    unblocks: wayOut,
    override: locks.includes(reason)
      ? `cofferdam drain ${node} --break-glass --reason TEXT --for 30m; ${cancel}`
      : cancel,
    waiting: [`node/${node}`],
  }
}
