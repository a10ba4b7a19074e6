import { isCordoned } from '../../../shared/closed-node.ts'
import { cordonMarkOf } from '../../../shared/cordon-mark.ts'
import { type CordonApi, changeCordon } from '../../node-cordon.ts'

export interface CordonOrder {
  readonly nodeName: string
  /** '' means any node of that name. */
  readonly nodeUid: string
  readonly requestId: string
}

/**
 * Closes the node to new pods, and leaves a mark that says for whom.
 *
 * Guarantees: a node that somebody else has cordoned meanwhile gets no mark of ours.
 */
export async function cordonNode(api: CordonApi, order: CordonOrder, signal: AbortSignal): Promise<void> {
  const { requestId: mark } = order
  await changeCordon(api, order, (node) => (isCordoned(node) ? undefined : { isCordoned: true, mark }), signal)
}

/** Opens the node again, if the mark on it says that it was closed for this request. */
export async function uncordonNode(api: CordonApi, order: CordonOrder, signal: AbortSignal): Promise<void> {
  const { requestId } = order
  await changeCordon(
    api,
    order,
    (node) => (cordonMarkOf(node) === requestId ? { isCordoned: false, mark: null } : undefined),
    signal,
  )
}
