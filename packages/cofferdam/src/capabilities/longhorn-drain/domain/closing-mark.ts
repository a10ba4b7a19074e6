import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { isCordoned } from '../../../shared/closed-node.ts'
import { cordonMarkOf, longhornCordon } from '../../../shared/cordon-mark.ts'
import type { LonghornNodeView } from './snapshot.ts'

/** The mark on a node that was cordoned so that Longhorn sees what closes it. */
export const closingMark = longhornCordon.set
/** The mark after another client uncordoned the node: whoever cordons it from now on is another client too. */
export const liftedMark = longhornCordon.lifted

export function ownCordonOf(node: Node): LonghornNodeView['ownCordon'] {
  const mark = cordonMarkOf(node)
  if (mark === liftedMark) return 'lifted'
  if (mark !== closingMark) return undefined
  return isCordoned(node) ? 'set' : 'lifted'
}

/** Whether anything is left to take back, so that a Longhorn that is not managed any more is reconciled once more. */
export function hasClosingMarks({ kubeNodes }: { readonly kubeNodes: readonly Node[] }): boolean {
  return kubeNodes.some((node) => ownCordonOf(node) !== undefined)
}
