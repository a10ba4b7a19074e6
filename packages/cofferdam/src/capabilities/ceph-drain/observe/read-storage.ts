import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { attendanceOf } from '../../../shared/attendance.ts'
import { isNamed, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import type { ReadPorts } from '../../ports.ts'
import { observedName, recordName } from '../apply/record.ts'
import { viewRecordedStorage, viewUnnamedStorage } from '../view/recorded-view.ts'

/** What is on record about every Ceph cluster. A cluster without Rook has none; missing rights are noted, not fatal. */
export async function readStorage(
  read: ReadPorts,
  budgets: readonly PodDisruptionBudget[],
): Promise<readonly StorageView[]> {
  const { api, cephViews, informers, trust, notSeen, signal } = read
  const clusters = cephViews.all.clusters()
  await informers.settled()
  const here = [...clusters.list()].filter(({ spec }) => spec?.external?.enable !== true)
  const named = here.filter((cluster) => isNamed(trust, nameOf(cluster)))
  const unnamed = here.filter((cluster) => !named.includes(cluster)).map(viewUnnamedStorage)
  const found = await Promise.all(
    named.map(async (cluster) => ({ cluster, ...(await readRecords({ api, signal }, cluster, notSeen)) })),
  )
  const isAnyRecorded = found.some(({ record, observed }) => (observed ?? record) !== undefined)
  const attendance = isAnyRecorded ? attendanceOf(await read.operator()) : {}
  const storage = found.map(({ cluster, record, observed }) => {
    const { view, unread } = viewRecordedStorage({ cluster, record, observed, budgets, attendance })
    const place = `configmap ${view.namespace}/${observed === undefined ? recordName : observedName}`
    notSeen.push(...unread.map((what) => `${place}: ${what}`))
    return view
  })
  return [...storage, ...unnamed]
}

/** The ConfigMaps in which the operator records what it decided about a Ceph cluster. */
export async function readRecords(
  { api, signal }: Pick<ReadPorts, 'signal'> & { readonly api: Pick<KubeApi, 'get'> },
  { metadata: { namespace = '' } }: Pick<CephCluster, 'metadata'>,
  notSeen: string[],
): Promise<{ readonly record: ConfigMap | undefined; readonly observed: ConfigMap | undefined }> {
  const [record, observed] = await Promise.all(
    [recordName, observedName].map((name) =>
      ifAllowed(`configmap ${namespace}/${name}`, notSeen, () =>
        api.get<ConfigMap>(configMaps, { namespace, name }, { signal }),
      ),
    ),
  )
  return { record, observed }
}
