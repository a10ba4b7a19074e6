import { longhornNamespace, longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { buildMovingRecord, decideMovingRecords, movingAnnotation } from '../domain/moving-record.ts'
import { collectFailure, type LonghornApplyPorts, type LonghornLook } from './apply.ts'

/** Writes down when replicas began to leave a node, and takes it back when none does any more. Returns what was refused. */
export async function applyMovingRecords(
  { api, views }: Pick<LonghornApplyPorts, 'api' | 'views'>,
  { snapshot }: Pick<LonghornLook, 'snapshot'>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  let version: string | undefined
  for (const { node, moving } of decideMovingRecords(snapshot)) {
    const text = moving === undefined ? null : buildMovingRecord(moving)
    await collectFailure(failures, async () => {
      const key = { namespace: longhornNamespace, name: node }
      const body = { metadata: { annotations: { [movingAnnotation]: text } } }
      version = (await api.patch(longhornNodes, key, { type: 'merge', body }, { signal })).metadata.resourceVersion
    })
  }
  if (version !== undefined) await views.nodes.whenSeen(version, signal)
  return failures
}
