import { longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { buildMovingRecord, type MovingChange, movingAnnotation } from '../domain/moving-record.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import type { LonghornViews } from '../observe/observe.ts'
import { collectFailure } from './collect-failure.ts'

/** Writes down when replicas began to leave a node, and takes it back when none does any more. Returns what was refused. */
export async function applyMovingRecords(
  { api, views }: { readonly api: Pick<KubeApi, 'patch'>; readonly views: Pick<LonghornViews, 'nodes'> },
  changes: readonly MovingChange[],
  { objects, signal }: { readonly objects: Pick<LonghornObjects, 'namespace'>; readonly signal: AbortSignal },
): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  let version: string | undefined
  for (const { node, moving } of changes) {
    const text = moving === undefined ? null : buildMovingRecord(moving)
    await collectFailure(failures, async () => {
      const key = { namespace: objects.namespace, name: node }
      const body = { metadata: { annotations: { [movingAnnotation]: text } } }
      version = (await api.patch(longhornNodes, key, { type: 'merge', body }, { signal })).metadata.resourceVersion
    })
  }
  if (version !== undefined) await views.nodes.whenSeen(version, signal)
  return failures
}
