import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { expect, it } from 'vitest'
import { suggestUpdate } from './suggest-osd-update.ts'

const cluster = (image: string | undefined): CephCluster => ({
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'ceph' },
  spec: image === undefined ? {} : { cephVersion: { image } },
})
const osd = (id: number, nodeName: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'rook-ceph', name: `rook-ceph-osd-${id}`, labels: { app: 'rook-ceph-osd' } },
  spec: { nodeName, containers: [] },
})
const osds = [osd(0, 'n2'), osd(1, 'n1'), osd(2, 'n3')]
const suggest = (one: CephCluster, pods = osds, grows = false) =>
  suggestUpdate({ clusters: [one], pods }, { calledAs: 'cofferdam', grows })

const patch = `kubectl -n rook-ceph patch cephcluster ceph --type merge -p '{"spec":{"cephVersion":{"image":"registry.example/ceph:v19.2.10"}}}'`

it('updates every OSD to the next image, with the names of the cluster, and adds a disk where OSDs are added', () => {
  expect(suggest(cluster('registry.example/ceph:v19.2.9'), osds, true)).toEqual([
    {
      says: 'Update all 3 OSDs, up to 3 at a time where their data allows it, and give n1 another disk meanwhile',
      lines: [
        'cofferdam plan osd-update --max-parallel 3',
        'kubectl -n rook-ceph annotate cephcluster ceph cofferdam.io/update-max-in-parallel=3 cofferdam.io/update-mons-first=false',
        patch,
        'kubectl annotate node n1 cofferdam.io/disks=sdx',
        'cofferdam status',
      ],
    },
  ])
})

it('leaves the disk out where no OSDs are added', () => {
  expect(suggest(cluster('registry.example/ceph:v19.2.9'))).toEqual([
    {
      says: 'Update all 3 OSDs, up to 3 at a time where their data allows it',
      lines: [
        'cofferdam plan osd-update --max-parallel 3',
        'kubectl -n rook-ceph annotate cephcluster ceph cofferdam.io/update-max-in-parallel=3 cofferdam.io/update-mons-first=false',
        patch,
        'cofferdam status',
      ],
    },
  ])
})

it.each<[string, CephCluster, Pod[]]>([
  ['an image without a version has no next one', cluster('registry.example/ceph:latest'), osds],
  ['no image is named', cluster(undefined), osds],
  ['there are no OSDs to speak of', cluster('registry.example/ceph:v19.2.9'), osds.slice(0, 1)],
])('suggests nothing where %s', (_name, one, pods) => {
  expect(suggest(one, pods)).toEqual([])
})
