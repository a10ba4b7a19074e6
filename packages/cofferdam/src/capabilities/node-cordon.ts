import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { type CordonChange, cordonedByAnnotation } from '../shared/cordon-mark.ts'
import { changeNode, type NodeApi, type NodeChange } from './change-node.ts'

export type CordonApi = NodeApi

/**
 * Changes the cordon of a node, decided on what the API server has at that moment. Returns the node as it is afterwards; undefined: nothing
 * was changed, or the node is gone.
 *
 * Guarantees: cordon and mark change in one write, and only on the version that was decided on. Another node of the same name is
 * left alone, where a uid is given.
 */
export function changeCordon(
  api: CordonApi,
  order: { readonly nodeName: string; readonly nodeUid: string },
  decide: (node: Node) => CordonChange | undefined,
  signal: AbortSignal,
): Promise<Node | undefined> {
  const change = (node: Node) => {
    const decided = decide(node)
    return decided === undefined ? undefined : cordonFields(decided)
  }
  return changeNode(api, order, change, signal)
}

/** Cordon and mark, as they change together. */
export function cordonFields({ isCordoned, mark }: CordonChange): NodeChange {
  return {
    annotations: { [cordonedByAnnotation]: mark },
    ...(isCordoned === undefined ? {} : { spec: { unschedulable: isCordoned ? true : null } }),
  }
}
