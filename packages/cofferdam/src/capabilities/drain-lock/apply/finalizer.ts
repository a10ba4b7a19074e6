import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { disruptionFinalizer } from './record.ts'

/** Before anything is held for a request, deleting it must wait for us. */
export function addFinalizer(
  api: Pick<KubeApi, 'patch'>,
  object: NodeDisruption,
  signal: AbortSignal,
): Promise<NodeDisruption> {
  return patchFinalizers(api, object, [...(object.metadata.finalizers ?? []), disruptionFinalizer], signal)
}

export async function dropFinalizer(
  api: Pick<KubeApi, 'patch'>,
  object: NodeDisruption,
  signal: AbortSignal,
): Promise<void> {
  const left = (object.metadata.finalizers ?? []).filter((each) => each !== disruptionFinalizer)
  try {
    await patchFinalizers(api, object, left, signal)
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}

function patchFinalizers(
  api: Pick<KubeApi, 'patch'>,
  { metadata: { name, uid = '', resourceVersion = '' } }: NodeDisruption,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<NodeDisruption> {
  const body = { metadata: { uid, resourceVersion, finalizers: finalizers.length === 0 ? null : finalizers } }
  return api.patch(nodeDisruptions, { name }, { type: 'merge', body }, { signal })
}
