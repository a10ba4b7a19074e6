import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { closingOf, isCordoned, isCordonedByCofferdam } from '../../../shared/closed-node.ts'
import { type CordonChange, cordonMarkOf } from '../../../shared/cordon-mark.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { closingMark, liftedMark } from './closing-mark.ts'

/** What is to become of the cordon of one node that Longhorn does not see as closed. */
export interface ClosingChange {
  readonly node: string
  /** '' means any node of that name. */
  readonly uid: string
  readonly to: /** Cordon it, with our mark. */
    | 'cordon'
    /** Lift our cordon: what closed the node is gone. */
    | 'lift'
    /** Lift our cordon although something closes the node: drains of Longhorn are not ours any more. */
    | 'withdraw'
    /** Another client uncordoned it: remember that it is not to be cordoned again. */
    | 'yield'
    /** Nothing closes it any more, and another client has uncordoned it before. */
    | 'forget'
  readonly explanation: string
}

export interface ClosingEvent {
  readonly type: 'Normal'
  readonly reason: Reason
  readonly note: string
}

/**
 * What to write on the node as the API server has it now; undefined: what was decided does not hold any more.
 *
 * Guarantees: a cordon that another client has set is neither marked as ours nor lifted. What was set for us counts as another's once
 * the managed fields name another writer, as after an uncordon and a cordon that were not seen.
 */
export function cordonChangeOf({ to }: Pick<ClosingChange, 'to'>, node: Node): CordonChange | undefined {
  const closing = closingOf(node)
  const mark = cordonMarkOf(node)
  switch (to) {
    case 'cordon':
      if (closing === undefined || closing.isCordoned || closing.taint === undefined) return undefined
      return mark === closingMark || mark === liftedMark ? undefined : { isCordoned: true, mark: closingMark }
    case 'lift':
      if (closing?.taint !== undefined || closing?.unreadable !== undefined) return undefined
      return lifted(node, mark)
    case 'withdraw':
      return lifted(node, mark)
    case 'yield':
      return mark === closingMark && !isCordoned(node) ? { mark: liftedMark } : undefined
    case 'forget':
      return mark === liftedMark || (mark === closingMark && !isCordoned(node)) ? { mark: null } : undefined
  }
}

function lifted(node: Node, mark: string): CordonChange | undefined {
  if (mark !== closingMark) return undefined
  return isCordonedByCofferdam(node) ? { isCordoned: false, mark: null } : { mark: null }
}

/** What is reported once it is written; undefined: only our own mark changed. */
export function closingEventOf(
  { to, node, explanation }: ClosingChange,
  { isCordoned: isCordonedNow }: CordonChange,
): ClosingEvent | undefined {
  const type = 'Normal'
  if (to === 'cordon') return { type, reason: 'CordonedForLonghorn', note: explanation }
  if (to === 'yield') return { type, reason: 'GuideYields', note: explanation }
  if (to === 'forget') return undefined
  if (isCordonedNow === false) return { type, reason: 'LonghornCordonLifted', note: explanation }
  const note = `Another client has changed the cordon of node ${node} since it was set for Longhorn; it stays as it is.`
  return { type, reason: 'GuideYields', note }
}
