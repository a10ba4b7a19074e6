import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'

/** Three zones with a node each, and two OSDs on each node. */
const threeZones = readFileSync(new URL('../examples/clusters/ceph-zones.yaml', import.meta.url), 'utf8')

/** Four hosts of which one can take over the data of another: copies are spread over hosts, and an OSD is out after a minute. */
const fourHosts = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall }]
nodes: [{ name: "node-{n}", count: 4 }]
ceph:
  osds: { perNode: 2 }
  pools: [{ name: replicapool, failureDomain: host }]
  disruptionManagement: { osdMaintenanceTimeout: 1 }
  pace: { recoveryPgsPerSecond: 2, outAfterSeconds: 60 }
`

let fixture: CephFixture
afterEach(() => fixture.close())

const calm = ['rook-ceph-osd']
const xIsOpen = ['rook-ceph-osd-zone-zone-y', 'rook-ceph-osd-zone-zone-z']
const isCalm = () => fixture.osdBudgets().join() === calm.join()

async function openGuarded(file: string): Promise<void> {
  fixture = await openCephFixture(file)
  fixture.startOperator()
  await fixture.until('the default budget is there', isCalm, 30)
  await fixture.seconds(5)
}

async function drained(node: string): Promise<void> {
  const drain = fixture.drain(node)
  await fixture.until(`${node} is drained`, drain.isOver)
  await drain.ended
  // A drain that ends and leaves an OSD behind would let its node reboot under it.
  expect(fixture.osdsOn(node)).toEqual([])
}

it('the example of the design: a zone is drained, the others are held, and all is as before', async () => {
  fixture = await openCephFixture(threeZones)
  const { trace } = fixture
  trace.chapter('The operator comes')
  fixture.startOperator()
  await fixture.seconds(10)
  expect(fixture.osdBudgets()).toEqual(calm)

  trace.chapter('An administrator drains node-a')
  await drained('node-a')
  expect(fixture.osdBudgets()).toEqual(xIsOpen)
  await fixture.seconds(60)
  expect(fixture.osdBudgets()).toEqual(xIsOpen)

  trace.chapter('node-a is back')
  await fixture.uncordon('node-a')
  await fixture.until('the default budget is back', isCalm)
  await fixture.seconds(30)

  expect(fixture.oracle.violations).toEqual([])
  await expect(trace.text()).toMatchFileSnapshot('./ceph-drain.golden.txt')
})

it('a second drain waits until the first node is back and its data clean, and then goes by itself', async () => {
  await openGuarded(threeZones)
  await drained('node-a')
  const second = fixture.drain('node-b')
  await fixture.seconds(120)
  expect(second.isOver()).toBe(false)
  expect(fixture.osdBudgets()).toEqual(xIsOpen)

  await fixture.uncordon('node-a')
  await fixture.until('the second drain is over', second.isOver)
  await second.ended
  expect(fixture.osdBudgets()).toEqual(['rook-ceph-osd-zone-zone-x', 'rook-ceph-osd-zone-zone-z'])

  await fixture.uncordon('node-b')
  await fixture.until('the default budget is back', isCalm)
  expect(await fixture.nooutBuckets()).toEqual([])
  expect(fixture.oracle.violations).toEqual([])
})

it('a dead disk whose data is clean again elsewhere blocks nobody', async () => {
  await openGuarded(threeZones)
  fixture.failOsd(1)
  await fixture.until(
    'its data is clean elsewhere, and the budget leaves it out',
    () => fixture.budgetText('rook-ceph-osd') === 'maxUnavailable 1, without osd 1',
  )
  expect(await fixture.nooutBuckets()).toEqual([])
  await drained('node-b')
  await fixture.uncordon('node-b')
  await fixture.until('the default budget is back', isCalm)
  expect(fixture.oracle.violations).toEqual([])
})

it('a crash sets no noout; a cordon of the same node afterwards does', async () => {
  await openGuarded(threeZones)
  fixture.failOsd(0)
  await fixture.until('the other zones are held', () => fixture.osdBudgets().join() === xIsOpen.join())
  expect(await fixture.nooutBuckets()).toEqual([])
  await fixture.cordon('node-a')
  await fixture.until('noout is set', async () => (await fixture.nooutBuckets()).join() === 'zone-x', 30)
  expect(fixture.oracle.violations).toEqual([])
})

it('a node that stays cordoned holds nobody up once its data has been rebuilt on others', async () => {
  await openGuarded(fourHosts)
  await drained('node-1')
  expect(await fixture.nooutBuckets()).toEqual(['node-1'])
  await fixture.until('noout has expired', async () => (await fixture.nooutBuckets()).length === 0, 120)
  await fixture.until('the other hosts are free', isCalm, 300)
  await drained('node-4')
  expect(fixture.oracle.violations).toEqual([])
})

it('while Ceph is silent nothing more may go down, after a short grace; when it answers again all is as before', async () => {
  await openGuarded(threeZones)
  fixture.silenceCeph()
  // At most a minute until somebody asks, and then the grace.
  await fixture.seconds(95)
  const drain = fixture.drain('node-a')
  await fixture.seconds(60)
  expect(fixture.runningOsds()).toEqual([0, 1, 2, 3, 4, 5])
  expect(drain.isOver()).toBe(false)

  fixture.letCephAnswer()
  await fixture.until('the drain is over', drain.isOver)
  await drain.ended
  await fixture.uncordon('node-a')
  await fixture.until('the default budget is back', isCalm)
  expect(fixture.oracle.violations).toEqual([])
})
