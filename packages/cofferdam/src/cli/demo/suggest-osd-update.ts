import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Choice, Suggestion } from './suggestion.ts'

/** With the names of this very cluster; nothing where there is no Ceph. */
export async function suggestOsdUpdate(
  api: Pick<KubeApi, 'list'>,
  ceph: { readonly rookImage?: string | undefined } | undefined,
  calledAs: string,
): Promise<Suggestion[]> {
  if (ceph === undefined) return []
  const [clusters, pods] = await Promise.all([api.list(cephClusters), api.list(podType)])
  const grows = ceph.rookImage !== undefined
  return suggestUpdate({ clusters: clusters.items, pods: pods.items }, { calledAs, grows })
}

/** Another image for every OSD, as many at a time as their data allows, and a new disk meanwhile. */
export function suggestUpdate(
  { clusters, pods }: { readonly clusters: readonly CephCluster[]; readonly pods: readonly Pod[] },
  { calledAs, grows: mayGrow }: Pick<Choice, 'calledAs'> & { readonly grows: boolean },
): Suggestion[] {
  const [cluster] = clusters
  if (cluster === undefined) return []
  const { namespace = '', name } = cluster.metadata
  const image = nextImage(cluster.spec?.cephVersion?.image)
  const osds = pods.filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === 'rook-ceph-osd',
  )
  if (image === undefined || osds.length < 2) return []
  const most = Math.min(4, osds.length)
  const node = osds.map(({ spec }) => spec.nodeName ?? '').sort()[0] ?? ''
  const grows = mayGrow && node !== ''
  return [
    {
      says: `Update all ${osds.length} OSDs, up to ${most} at a time where their data allows it${grows ? `, and give ${node} another disk meanwhile` : ''}`,
      lines: [
        `${calledAs} plan osd-update --max-parallel ${most}`,
        `kubectl -n ${namespace} annotate cephcluster ${name} cofferdam.io/update-max-in-parallel=${most} cofferdam.io/update-mons-first=false`,
        `kubectl -n ${namespace} patch cephcluster ${name} --type merge -p '{"spec":{"cephVersion":{"image":"${image}"}}}'`,
        ...(grows ? [`kubectl annotate node ${node} cofferdam.io/disks=sdx`] : []),
        `${calledAs} status`,
      ],
    },
  ]
}

/** The next patch of the same release; nobody pulls it here. */
export function nextImage(image: string | undefined): string | undefined {
  const [, before, patch] = /^(.*\.)(\d{1,6})$/.exec(image ?? '') ?? []
  return before === undefined ? undefined : `${before}${Number(patch) + 1}`
}
