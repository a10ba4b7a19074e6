import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { osdSelector } from '../../../ceph/views/ceph-views.ts'
import { slimPod } from '../../../ceph/views/slim-objects.ts'
import { groupedBy } from '../../../shared/grouped-by.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { indexOfOsd } from '../../../shared/parse-osd.ts'

/** Pods of OSDs at one moment, by the same index as the view of them. */
export type OsdPods = Pick<WatchView<Pod>, 'byIndex'>

/** As the API server has them now: a watch may be late, and what is opened meanwhile cannot be taken back. Never throws. */
export async function readOsdPods(
  api: Pick<KubeApi, 'list'>,
  namespaces: Iterable<string>,
  signal: AbortSignal,
): Promise<Observed<OsdPods>> {
  try {
    const lists = await Promise.all(
      [...new Set(namespaces)].map((namespace) => api.list(pods, { namespace, labelSelector: osdSelector, signal })),
    )
    const all = lists.flatMap(({ items }) => items.map(slimPod))
    const byOsd = groupedBy(all, (pod) => indexOfOsd(pod)[0] ?? '')
    return known({ byIndex: (_, index) => byOsd.get(index) ?? [] })
  } catch (error) {
    signal.throwIfAborted()
    return unknown(error instanceof Error ? error.message : String(error))
  }
}
