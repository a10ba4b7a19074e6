import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'

/** Writes conditions beside those of others. Returns the node's version; undefined when the node has gone meanwhile. */
export async function applyConditions(
  api: Pick<KubeApi, 'patch'>,
  name: string,
  conditions: readonly Condition[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const body = { status: { conditions: conditions as unknown as readonly JsonObject[] } }
  try {
    const written = await api.patch(nodes, { name }, { type: 'strategic', body }, { subresource: 'status', signal })
    return written.metadata.resourceVersion
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
