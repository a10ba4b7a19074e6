import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { Views } from '../actor.ts'
import type { CephControls } from './simulated-ceph.ts'

/** `failed` on the Deployment of an OSD breaks its disk, for whoever has only kubectl at hand. */
const diskWish = 'cofferdam.io/disk'

/** Breaks disks as annotations ask for it, and mends them when those are gone. Returns how to end it. */
export function followDiskWishes({
  views,
  namespace,
  controls,
}: {
  readonly views: Views
  readonly namespace: string
  readonly controls: Pick<CephControls, 'failDisk' | 'mendDisk'>
}): () => void {
  const failed = new Set<number>()
  return views.of(deployments).subscribe(({ before, after }) => {
    const osd = osdOf(after ?? before, namespace)
    if (osd === undefined) return
    const isFailed = after?.metadata.annotations?.[diskWish] === 'failed'
    if (failed.has(osd) === isFailed) return
    if (isFailed) {
      failed.add(osd)
      controls.failDisk(osd)
    } else {
      failed.delete(osd)
      controls.mendDisk(osd)
    }
  })
}

function osdOf(deployment: Deployment | undefined, namespace: string): number | undefined {
  const { labels = {}, namespace: place } = deployment?.metadata ?? {}
  const id = labels['app'] === 'rook-ceph-osd' ? labels['ceph-osd-id'] : undefined
  return place !== namespace || id === undefined ? undefined : Number(id)
}
