import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { observeSettings } from '../../../ledger/store/observe-settings.ts'
import { doesCount, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import type { OperatorStatus } from '../../../shared/operator-status.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { observedName, recordName } from '../apply/record.ts'
import { viewRecordedStorage, viewUnnamedStorage } from '../view/recorded-view.ts'

export interface SeenStorage {
  readonly storage: readonly StorageView[]
  /** What could not be read, and why: an answer without it says so. */
  readonly notSeen: readonly string[]
}

export interface StorageQuestion {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly budgets: readonly PodDisruptionBudget[]
  /** Asked only where something is on record. */
  readonly operator: (notSeen: string[]) => Promise<OperatorStatus>
  readonly signal: AbortSignal
}

/** What is on record about every Ceph cluster. A cluster without Rook has none; missing rights are told, not fatal. */
export async function observeStorage({ api, budgets, operator, signal }: StorageQuestion): Promise<SeenStorage> {
  const notSeen: string[] = []
  const clusters = await ifAllowed('cephclusters.ceph.rook.io', notSeen, async () => {
    const { items } = await api.list(cephClusters, { signal })
    return items
  })
  const here = (clusters ?? []).filter(({ spec }: CephCluster) => spec?.external?.enable !== true)
  const { trust } = here.length === 0 ? { trust: undefined } : await observeSettings({ api, signal })
  const owned = here.filter((cluster) => doesCount(trust, nameOf(cluster)))
  const unnamed = here.filter((cluster) => !owned.includes(cluster)).map(viewUnnamedStorage)
  const found = await Promise.all(
    owned.map(async (cluster) => {
      const { namespace = '' } = cluster.metadata
      const [record, observed] = await Promise.all(
        [recordName, observedName].map((name) =>
          ifAllowed(`configmap ${namespace}/${name}`, notSeen, () =>
            api.get<ConfigMap>(configMaps, { namespace, name }, { signal }),
          ),
        ),
      )
      return { cluster, record, observed }
    }),
  )
  const { isRunning, renewedAt } = found.some(({ record, observed }) => (observed ?? record) !== undefined)
    ? await operator(notSeen)
    : {}
  const attendance = {
    ...(isRunning === undefined ? {} : { isAttended: isRunning }),
    ...(isRunning === false && renewedAt !== undefined ? { unattendedSince: renewedAt } : {}),
  }
  const storage = found.map(({ cluster, record, observed }) => {
    const { view, unread } = viewRecordedStorage({ cluster, record, observed, budgets, attendance })
    const { namespace } = view
    notSeen.push(
      ...unread.map((what) => `configmap ${namespace}/${observed === undefined ? recordName : observedName}: ${what}`),
    )
    return view
  })
  return { storage: [...storage, ...unnamed], notSeen }
}
