import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { isCordoned, isCordonedByCofferdam } from '../../../shared/closed-node.ts'
import { type CordonChange, cordonMarkOf, isMarkOfRequest } from '../../../shared/cordon-mark.ts'
import { type CordonApi, changeCordon } from '../../node-cordon.ts'

export interface CordonOrder {
  readonly nodeName: string
  /** '' means any node of that name. */
  readonly nodeUid: string
  readonly requestId: string
}

/**
 * Closes the node to new pods, and leaves a mark that says for whom. False: the node has changed since it was decided, so it has to be
 * decided again. A process that was stalled would otherwise close a node whose request its successor has ended meanwhile.
 *
 * Guarantees: a node that somebody else has cordoned meanwhile gets no mark of ours; one that another request has cordoned does, since that has
 * lost the node.
 */
export async function cordonNode(
  api: CordonApi,
  order: CordonOrder & { readonly nodeVersion: string | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const { requestId: mark, nodeVersion } = order
  let isOvertaken = false
  await changeCordon(
    api,
    order,
    (node) => {
      isOvertaken = nodeVersion !== undefined && node.metadata.resourceVersion !== nodeVersion
      const isTakenOver = isMarkOfRequest(cordonMarkOf(node)) && cordonMarkOf(node) !== mark
      return isOvertaken || (isCordoned(node) && !isTakenOver) ? undefined : { isCordoned: true, mark }
    },
    signal,
  )
  return !isOvertaken
}

/** Opens the node again, if the mark on it says that it was closed for this request. One that others have opened and closed since stays closed. */
export async function uncordonNode(api: CordonApi, order: CordonOrder, signal: AbortSignal): Promise<void> {
  const { requestId } = order
  await changeCordon(api, order, (node) => (cordonMarkOf(node) === requestId ? lifted(node) : undefined), signal)
}

function lifted(node: Node): CordonChange {
  return isCordonedByCofferdam(node) ? { isCordoned: false, mark: null } : { mark: null }
}

/** Takes the mark of this request off a node that somebody else has opened. A cordon that was set since is not ours, and stays. */
export async function unmarkNode(api: CordonApi, order: CordonOrder, signal: AbortSignal): Promise<void> {
  const { requestId } = order
  await changeCordon(api, order, (node) => (cordonMarkOf(node) === requestId ? { mark: null } : undefined), signal)
}
