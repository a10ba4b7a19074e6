import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type RecordWrite, type StoredUpdate, storedOf } from '../domain/stored-update.ts'
import { updateRecordName } from '../domain/update-record.ts'

export async function readUpdate(
  api: Pick<KubeApi, 'get'>,
  cluster: { readonly namespace: string; readonly name: string; readonly generation: number },
  signal: AbortSignal,
): Promise<StoredUpdate> {
  let configMap: ConfigMap | undefined
  try {
    const key = { namespace: cluster.namespace, name: updateRecordName(cluster) }
    configMap = await api.get(configMaps, key, { signal })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
  return storedOf(configMap, cluster.generation)
}

/** Writes it as a compare-and-swap on what was read; returns what is stored then. */
export async function writeRecord(
  api: Pick<KubeApi, 'create' | 'update'>,
  { verb, configMap }: RecordWrite,
  { generation, signal }: { readonly generation: number; readonly signal: AbortSignal },
): Promise<StoredUpdate> {
  return storedOf(await api[verb](configMaps, configMap, { signal }), generation)
}
