import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import type { Permission } from '../shared/permission.ts'
import type { ToolRequestStep } from '../shared/tool-request.ts'

export const toolRequestRights: Permission = {
  group: 'cofferdam.io',
  resource: 'nodedisruptions',
  verbs: ['list', 'watch', 'create', 'delete'],
}

/** Makes or withdraws a request for another tool. Returns the version that the view of requests has then; undefined where nothing was changed. */
export async function applyToolRequest(
  api: Pick<KubeApi, 'create' | 'delete'>,
  step: ToolRequestStep,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    if (step.write === 'request') {
      const made = await api.create(nodeDisruptions, step.request, { fieldManager: 'cofferdam', signal })
      return made.metadata.resourceVersion
    }
    const { name, uid } = step
    const withdrawn = await api.delete(nodeDisruptions, { name }, { preconditions: { uid }, signal })
    return withdrawn.metadata.resourceVersion
  } catch (error) {
    // Made before its answer was lost; gone meanwhile; or another request by the same name, which the next pass sees.
    if (hasReason(error, 'AlreadyExists', 'NotFound', 'Conflict')) return undefined
    throw error
  }
}
