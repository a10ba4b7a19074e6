import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'

/** Where things are that the chapters speak of. They move while the tour goes on, so each chapter has its own. */
export interface TourPlaces {
  /** The node of the pod orders-0. */
  readonly orders: string
  /** The node with the only copy of the volume archive. */
  readonly archive: string
  /** The nodes with OSDs, by name; the last of them is the one whose machine dies. */
  readonly storage: readonly string[]
}

export async function observePlaces(api: Pick<KubeApi, 'get' | 'list'>): Promise<TourPlaces> {
  const [orders, copies, osds, all] = await Promise.all([
    api.get(pods, { namespace: 'shop', name: 'orders-0' }),
    api.list(longhornReplicas, { namespace: 'longhorn-system', labelSelector: 'longhornvolume=archive' }),
    api.list(pods, { namespace: 'rook-ceph', labelSelector: 'app=rook-ceph-osd' }),
    api.list(nodes),
  ])
  const present = new Set(all.items.map(({ metadata }) => metadata.name))
  const withOsds = osds.items.flatMap(({ spec }) => spec.nodeName ?? []).filter((node) => present.has(node))
  return {
    orders: orders.spec.nodeName ?? '',
    archive: copies.items[0]?.spec?.nodeID ?? '',
    storage: [...new Set(withOsds)].sort(),
  }
}
