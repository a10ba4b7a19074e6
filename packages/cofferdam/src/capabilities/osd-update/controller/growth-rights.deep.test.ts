import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { describeRights, type RightsCase } from '../../../operator/testing/describe-rights.ts'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { type OsdGrowthFixture, openOsdGrowthFixture } from '../testing/osd-growth-fixture.ts'

const spec = { accessModes: ['ReadWriteOnce'], volumeMode: 'Block', resources: { requests: { storage: '1Ti' } } }

/** A Deployment that somebody made by hand for an OSD which a prepare Job is going to report. */
async function makeByHand({ api, osds }: OsdGrowthFixture, id: string): Promise<void> {
  const [like] = await osds()
  if (like === undefined) throw new Error('there is no OSD')
  const own = { 'ceph-osd-id': id, osd: id, ceph_daemon_id: id }
  const { selector, template } = like.spec
  await api.create(deployments, {
    apiVersion: like.apiVersion,
    kind: like.kind,
    metadata: { name: `by-hand-${id}`, namespace, labels: { ...like.metadata.labels, ...own } },
    spec: {
      ...like.spec,
      selector: { matchLabels: { ...selector.matchLabels, 'ceph-osd-id': id } },
      template: { ...template, metadata: { labels: { ...template.metadata?.labels, ...own } } },
    },
  })
}

/** New disks, volumes, a node that is wanted no more, and what others made: all that growth reads and writes. */
const growth: RightsCase<OsdGrowthFixture> = {
  controller: 'osd-growth',
  open: () => openOsdGrowthFixture(),
  async scenario(fixture, start) {
    for (const name of ['set1-data-0abc', 'set1-data-1']) fixture.prepare.addDevice(name, { name: `mnt/${name}` })
    start()
    await fixture.grow({ 'node-z': 'sdz' })
    await fixture.seconds(40)
    await makeByHand(fixture, '7')
    const labels = { 'ceph.rook.io/DeviceSet': 'set1', 'ceph.rook.io/setIndex': '0' }
    const metadata = { name: 'set1-data-0abc', namespace, labels }
    await fixture.api.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec,
    })
    await fixture.seconds(1)
    await fixture.grow({ 'node-x': 'sdx', 'node-y': 'sdy' })
    await fixture.seconds(15)
    const seen = [await fixture.ids(), await fixture.statuses()]
    const storageClassDeviceSets = [{ name: 'set1', count: 2, volumeClaimTemplates: [{ spec }] }]
    await fixture.patchCluster({ spec: { storage: { nodes: [{ name: 'node-x' }], storageClassDeviceSets } } })
    await fixture.seconds(20)
    // Two volumes may be ready in one look or in two.
    const told = [...new Set(await fixture.told())]
    return [...seen, (await fixture.ids()).length, await fixture.statuses(), await fixture.jobs(), told]
  },
  whole: [
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
    ['node-x: completed, used', 'node-y: completed, used', 'node-z: completed, used'],
    11,
    ['node-x: completed, used', 'set1-data-0abc: completed, used', 'set1-data-1: completed, used'],
    [],
    ['Normal OsdPrepareStarted', 'Normal OsdAdded'],
  ],
}

describeRights({ 'osd-growth': growth })
