import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { cordonManager } from '../shared/cordon-mark.ts'

export type NodeApi = Pick<KubeApi, 'get' | 'patch'>

/** What becomes of a node, beside its other fields. */
export interface NodeChange {
  /** null takes an annotation away. */
  readonly annotations: Readonly<Record<string, string | null>>
  readonly spec?: JsonObject
}

const mostConflicts = 6

/**
 * Changes a node, decided on what the API server has at that moment. Returns the node as it is afterwards; undefined: nothing was
 * changed, or the node is gone.
 *
 * Guarantees: everything changes in one write, and only on the version that was decided on. Another node of the same name is left
 * alone, where a uid is given.
 */
export async function changeNode(
  api: NodeApi,
  { nodeName: name, nodeUid }: { readonly nodeName: string; readonly nodeUid: string },
  decide: (node: Node) => NodeChange | undefined,
  signal: AbortSignal,
): Promise<Node | undefined> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      const node = await api.get(nodes, { name }, { signal })
      const { uid = '', resourceVersion = '' } = node.metadata
      const change = nodeUid === '' || nodeUid === uid ? decide(node) : undefined
      if (change === undefined) return undefined
      const { annotations, spec } = change
      const body = { metadata: { resourceVersion, annotations }, ...(spec === undefined ? {} : { spec }) }
      return await api.patch(nodes, { name }, { type: 'merge', body }, { fieldManager: cordonManager, signal })
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      if (!hasReason(error, 'Conflict') || conflicts >= mostConflicts) throw error
    }
  }
}
