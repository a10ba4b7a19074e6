import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps, deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { groupsBelowFloor } from '../../../../../../scenarios/testing/groups-below-floor.ts'
import { observeCeph } from '../../../ceph/observe-ceph.ts'
import { type CephFixture, namespace, openCephFixture, smallCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { osdImage } from '../domain/osd-deployment.ts'
import { parseUpdateRecord, updateRecordName } from '../domain/update-record.ts'

export const newImage = 'registry.example/ceph/ceph:v19.2.4'

export interface OsdUpdateFixture extends CephFixture {
  /** Placement groups that clients could not reach at any look, of Ceph's own truth. */
  readonly broken: string[]
  /** The most OSDs that were down at once. */
  mostDown(): number
  /** Lets time pass half a second at a time, and looks at Ceph each time. */
  watch(seconds: number): Promise<void>
  /** Lets time pass until it holds; tells whether it came to that. */
  until(holds: () => Promise<boolean>, withinSeconds: number): Promise<boolean>
  osds(): Promise<readonly Deployment[]>
  /** Images of the OSDs, each once. */
  images(): Promise<string[]>
  wantImage(image: string): Promise<void>
  /** OSDs that carry noout themselves. */
  nooutOsds(): Promise<number[]>
  updateRecord(): Promise<ReturnType<typeof parseUpdateRecord>>
  /** As the ConfigMap has it. */
  recordData(): Promise<Readonly<Record<string, string>>>
  storeRecord(data: Record<string, string>): Promise<void>
  deleteRecord(): Promise<void>
  generation(): Promise<number>
  deleteCluster(): Promise<void>
}

const stepMs = 500

export async function openOsdUpdateFixture(file = smallCluster, seed = 1): Promise<OsdUpdateFixture> {
  const fixture = await openCephFixture(file, seed)
  // Nobody updates mons here; that OSDs wait for them has tests of its own.
  await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-mons-first': 'false' } } })
  const { api, clock, ceph } = fixture
  const broken: string[] = []
  let mostDown = 0
  const list = async () => {
    const { items } = await api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd' })
    return items
  }
  const lookAtCeph = async () => {
    const map = await observeCeph(ceph.commands)
    if (!map.known) return
    broken.push(...groupsBelowFloor(map.value))
    mostDown = Math.max(mostDown, map.value.osds.filter(({ isUp }) => !isUp).length)
  }
  const watch = async (seconds: number) => {
    const end = clock.now() + seconds * 1_000
    while (clock.now() < end) {
      await clock.advance(stepMs)
      await lookAtCeph()
    }
  }
  const clusterKey = { namespace, name: 'rook-ceph' }
  const recordKey = { namespace, name: updateRecordName(clusterKey) }
  return {
    ...fixture,
    broken,
    mostDown: () => mostDown,
    watch,
    async until(holds, withinSeconds) {
      const end = clock.now() + withinSeconds * 1_000
      while (clock.now() < end) {
        if (await holds()) return true
        await watch(1)
      }
      return holds()
    },
    osds: list,
    async images() {
      return [...new Set((await list()).map((osd) => osdImage(osd) ?? ''))].sort()
    },
    wantImage: (image) => fixture.patchCluster({ spec: { cephVersion: { image } } }),
    async nooutOsds() {
      const map = await observeCeph(ceph.commands)
      if (!map.known) throw new Error(map.why)
      return map.value.osds.filter(({ hasNoout }) => hasNoout === true).map(({ id }) => id)
    },
    async updateRecord() {
      const { data } = await api.get(configMaps, recordKey)
      return parseUpdateRecord(data, -1)
    },
    async recordData() {
      const { data } = await api.get(configMaps, recordKey)
      return data ?? {}
    },
    async storeRecord(data) {
      await api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: recordKey, data })
    },
    async deleteRecord() {
      await api.delete(configMaps, recordKey)
    },
    async generation() {
      const { metadata } = await api.get(cephClusters, clusterKey)
      return metadata.generation ?? 0
    },
    async deleteCluster() {
      await api.delete(cephClusters, clusterKey)
    },
  }
}
