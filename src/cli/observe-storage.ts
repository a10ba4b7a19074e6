import { hasReason } from '../api/api-error.ts'
import type { ConfigMap } from '../api/core.ts'
import type { PodDisruptionBudget } from '../api/policy.ts'
import { configMaps } from '../api/resources.ts'
import { type CephCluster, cephClusters } from '../api/rook.ts'
import { recordName } from '../controllers/ceph-drain-record.ts'
import { type StorageView, viewRecordedStorage } from '../domain/explain/storage-view.ts'
import type { KubeApi } from '../kube/kube-api.ts'

export interface SeenStorage {
  readonly storage: readonly StorageView[]
  /** What could not be read, and why: an answer without it says so. */
  readonly notSeen: readonly string[]
}

/** What is on record about every Ceph cluster. A cluster without Rook has none; missing rights are told, not fatal. */
export async function observeStorage(
  api: Pick<KubeApi, 'get' | 'list'>,
  budgets: readonly PodDisruptionBudget[],
  signal: AbortSignal,
): Promise<SeenStorage> {
  const notSeen: string[] = []
  const clusters = await ifAllowed('cephclusters.ceph.rook.io', notSeen, async () => {
    const { items } = await api.list(cephClusters, { signal })
    return items
  })
  const owned = (clusters ?? []).filter(({ spec }: CephCluster) => spec?.external?.enable !== true)
  const storage = await Promise.all(
    owned.map(async (cluster) => {
      const { namespace = '' } = cluster.metadata
      const record = await ifAllowed(`configmap ${namespace}/${recordName}`, notSeen, () =>
        api.get<ConfigMap>(configMaps, { namespace, name: recordName }, { signal }),
      )
      return viewRecordedStorage({ cluster, record, budgets })
    }),
  )
  return { storage, notSeen }
}

/** What the server has; undefined when there is no such thing, or when it may not be read, which is noted. */
export async function ifAllowed<T>(what: string, notSeen: string[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (hasReason(error, 'Forbidden')) notSeen.push(`${what}: ${error.message}`)
    else if (!hasReason(error, 'NotFound')) throw error
    return undefined
  }
}
