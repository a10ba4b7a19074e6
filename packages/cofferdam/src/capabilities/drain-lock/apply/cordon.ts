import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { cordonedByAnnotation } from '../observe/objects.ts'

type NodeApi = Pick<KubeApi, 'get' | 'patch'>

export interface CordonOrder {
  readonly nodeName: string
  /** '' means any node of that name. */
  readonly nodeUid: string
  readonly requestId: string
}

const mostConflicts = 6

/**
 * Closes the node to new pods, and leaves a mark that says for whom.
 *
 * Guarantees: a node that somebody else has cordoned meanwhile gets no mark of ours.
 */
export function cordonNode(api: NodeApi, order: CordonOrder, signal: AbortSignal): Promise<void> {
  return changeNode(api, order, signal, (node) => (node.spec?.unschedulable === true ? undefined : true))
}

/** Opens the node again, if the mark on it says that it was closed for this request. */
export function uncordonNode(api: NodeApi, order: CordonOrder, signal: AbortSignal): Promise<void> {
  return changeNode(api, order, signal, ({ metadata }) =>
    metadata.annotations?.[cordonedByAnnotation] === order.requestId ? false : undefined,
  )
}

async function changeNode(
  api: NodeApi,
  { nodeName: name, nodeUid, requestId }: CordonOrder,
  signal: AbortSignal,
  wanted: (node: Node) => boolean | undefined,
): Promise<void> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      const node = await api.get(nodes, { name }, { signal })
      const { uid = '', resourceVersion = '' } = node.metadata
      const isCordoned = nodeUid === '' || nodeUid === uid ? wanted(node) : undefined
      if (isCordoned === undefined) return
      const body = {
        metadata: { resourceVersion, annotations: { [cordonedByAnnotation]: isCordoned ? requestId : null } },
        spec: { unschedulable: isCordoned ? true : null },
      }
      await api.patch(nodes, { name }, { type: 'merge', body }, { signal })
      return
    } catch (error) {
      if (hasReason(error, 'NotFound')) return
      if (!hasReason(error, 'Conflict') || conflicts >= mostConflicts) throw error
    }
  }
}
