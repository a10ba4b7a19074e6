import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { configMaps, deployments, events, jobs, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type OsdPrepare, startOsdPrepare } from '@cofferdam/simulator/world/ceph/rook/osd-prepare.ts'
import { trustsAlone } from '../../../shared/ceph-trust/named-clusters.ts'
import { namespace, smallCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { parsePrepareStatus } from '../domain/prepare-status.ts'
import { type OsdUpdateFixture, openOsdUpdateFixture } from './osd-update-fixture.ts'

export const rookImage = 'registry.example/rook/ceph:v1.18.8'
/** The administrator has OSDs added to the cluster of the stage. */
export const growing = trustsAlone([{ namespace, name: 'rook-ceph' }], rookImage)

export interface OsdGrowthFixture extends OsdUpdateFixture {
  readonly prepare: OsdPrepare
  /** Gives disks to each node that is named. */
  grow(disks: Readonly<Record<string, string>>): Promise<void>
  /** Ids of all OSDs that have a Deployment. */
  ids(): Promise<number[]>
  /** Ids of all OSDs that are up. */
  up(): Promise<number[]>
  /** How many placement groups have a copy on this OSD. */
  groupsOn(osd: number): Promise<number>
  jobs(): Promise<readonly Job[]>
  /** `node-x: completed, used` */
  statuses(): Promise<string[]>
  statusMap(place: string): Promise<ConfigMap>
  /** Notes of our events with this reason, oldest first. */
  notes(reason: string): Promise<string[]>
}

const order = (a: number, b: number) => a - b

/** A stage with the disks of its OSDs, where prepare Jobs find what is put in. */
export async function openOsdGrowthFixture(file = smallCluster, seed = 1): Promise<OsdGrowthFixture> {
  const fixture = await openOsdUpdateFixture(file, seed)
  const { api, clock, random, world, ceph, failures } = fixture
  const seeded = await api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
  const devices: Record<string, { name: string; osd: number }[]> = {}
  for (const { metadata, spec } of seeded.items) {
    const held = devices[spec.nodeName ?? ''] ?? []
    devices[spec.nodeName ?? ''] = [
      ...held,
      { name: `sd${'abcdefgh'[held.length]}`, osd: Number(metadata.labels?.['osd']) },
    ]
  }
  const prepare = startOsdPrepare({
    api,
    clock,
    random,
    views: world.views,
    onFailure: (failure) => failures.push(failure),
    namespace,
    ceph,
    devices,
    isOn: world.kubelet.isOn,
  })
  const dump = async () => {
    const { out } = await ceph.commands.run({ prefix: 'osd dump', format: 'json' })
    return (JSON.parse(out) as { osds: { osd: number; up: number }[] }).osds
  }
  const maps = async () => {
    const { items } = await api.list(configMaps, { namespace, labelSelector: 'app=rook-ceph-osd' })
    return items
  }
  return {
    ...fixture,
    prepare,
    operate: (options = {}) => fixture.operate({ trust: growing, ...options }),
    async grow(disks) {
      for (const [name, text] of Object.entries(disks)) {
        const body = { metadata: { annotations: { 'cofferdam.io/disks': text } } }
        await api.patch(nodes, { name }, { type: 'merge', body })
      }
    },
    async ids() {
      const { items } = await api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd' })
      return items.map(({ metadata }) => Number(metadata.labels?.['osd'])).sort(order)
    },
    async up() {
      return (await dump())
        .filter(({ up }) => up === 1)
        .map(({ osd }) => osd)
        .sort(order)
    },
    async groupsOn(osd) {
      const { out } = await ceph.commands.run({ prefix: 'pg dump', dumpcontents: ['pgs_brief'], format: 'json' })
      const dumped = JSON.parse(out) as { pg_stats: { acting: number[] }[] }
      return dumped.pg_stats.filter(({ acting }) => acting.includes(osd)).length
    },
    async jobs() {
      const { items } = await api.list(jobs, { namespace, labelSelector: 'app=rook-ceph-osd-prepare' })
      return items
    },
    async statuses() {
      return (await maps()).flatMap((map) => {
        const parsed = parsePrepareStatus(map)
        if (parsed === undefined) return []
        if (!('status' in parsed)) return [`${parsed.place}: ${parsed.problem}`]
        const { place, state, isUsed } = parsed.status
        return [`${place}: ${state}${isUsed ? ', used' : ''}`]
      })
    },
    statusMap: (place) => api.get(configMaps, { namespace, name: `rook-ceph-osd-${place}-status` }),
    async notes(reason) {
      const { items } = await api.list(events, { namespace })
      return items
        .filter((event) => event.reason === reason)
        .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ message = '' }) => message)
    },
    async close() {
      prepare.stop()
      await fixture.close()
    },
  }
}
