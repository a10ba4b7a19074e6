import { longhornNamespace, longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { afterEach, expect, it } from 'vitest'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'

let fixture: LonghornFixture
afterEach(() => fixture.stop())

const emptyDisk = (disk: string, on: boolean) =>
  fixture.api.patch(
    longhornNodes,
    { namespace: longhornNamespace, name: 'node-1' },
    { type: 'merge', body: { spec: { disks: { [disk]: { evictionRequested: on, allowScheduling: !on } } } } },
  )

/** Of each replica of the volume: its node, its disk by name, and whether it is to go. */
async function copiesOf(volume: string): Promise<string[]> {
  const replicas = await fixture.replicasOf(volume)
  const places = replicas.map(async ({ spec }) => {
    const { diskStatus = {} } = (await fixture.node(spec?.nodeID ?? '')).status ?? {}
    const disk = Object.keys(diskStatus).find((name) => diskStatus[name]?.diskUUID === spec?.diskID)
    return `${spec?.nodeID} ${disk}${spec?.evictionRequested === true ? ' evicting' : ''}`
  })
  return (await Promise.all(places)).sort()
}

const eventsOf = async (volume: string) => {
  const names = (await fixture.replicasOf(volume)).map(({ metadata }) => metadata.name)
  return (await Promise.all(names.map(fixture.eventsAbout))).flat().map((event) => event.split(' x')[0])
}

it('a disk that is to be emptied loses its replicas to other disks and gets none, though its node stays open and nothing is cordoned', async () => {
  fixture = await openLonghorn({
    ownDrainHandling: true,
    csi: false,
    disks: [{ name: 'fast' }],
    nodes: { 'node-1': { disks: [{ name: 'fast' }, { name: 'slow', tags: ['slow'] }] }, 'node-2': {} },
    volumes: [
      { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], diskSelector: [], filled: 0.25 },
      { name: 'slow', numberOfReplicas: 1, diskSelector: ['slow'], filled: 0.25 },
    ],
    timings: { rebuildBytesPerSecond: 16 * 1024 ** 2 },
  })
  const { controls, node, seconds, until, volume } = fixture
  await controls.attach('db', 'node-2')
  await seconds(5)
  const home = (await copiesOf('db'))[0] as string
  const [, disk = ''] = home.split(' ')
  const other = disk === 'fast' ? 'slow' : 'fast'
  await emptyDisk(disk, true)
  await seconds(2)
  expect(await copiesOf('db')).toContain(`${home} evicting`)
  expect(await eventsOf('db')).toEqual(['Normal EvictionUserRequested'])
  expect((await node('node-1')).status?.autoEvicting).toBe(false)
  await until(async () => (await copiesOf('db')).join() === `node-1 ${other},node-2 fast`)
  expect(controls.verify('db').isIntact).toBe(true)

  await emptyDisk(disk, false)
  await emptyDisk('slow', true)
  await until(async () => (await copiesOf('slow')).join() === 'node-1 slow evicting')
  await seconds(90)
  expect([await copiesOf('slow'), (await volume('slow')).status?.state]).toEqual([['node-1 slow evicting'], 'detached'])
  await emptyDisk('slow', false)
  await until(async () => (await copiesOf('slow')).join() === 'node-1 slow')
})

it('a linked clone stays on the disks of its source, whoever asks: no flag is raised, and no copy of it is made elsewhere', async () => {
  const block = [{ name: 'nvme', diskType: 'block' as const }]
  const second = { dataEngine: 'v2' as const, numberOfReplicas: 1, filled: 0.25 }
  fixture = await openLonghorn({
    ownDrainHandling: true,
    csi: false,
    dataEngines: ['v2'],
    disks: block,
    settings: { 'node-drain-policy': 'block-for-eviction' },
    volumes: [
      { ...second, name: 'source', placedOn: ['node-1'] },
      { ...second, name: 'clone', cloneMode: 'linked-clone', dataSource: 'vol://source' },
    ],
  })
  const { controls, cordon, requestEviction, replicasOf, seconds, until } = fixture
  expect(await copiesOf('clone')).toEqual(['node-1 nvme'])
  await controls.attach('clone', 'node-2')
  await emptyDisk('nvme', true)
  await cordon('node-1')
  await until(async () => (await replicasOf('source')).every(({ spec }) => spec?.nodeID !== 'node-1'))
  await seconds(60)
  expect(await copiesOf('clone')).toEqual(['node-1 nvme'])
  expect(await eventsOf('clone')).toEqual([])
  await requestEviction('node-1')
  await seconds(60)
  expect(await copiesOf('clone')).toEqual(['node-1 nvme evicting'])
  expect(controls.verify('clone').isIntact).toBe(true)
})
