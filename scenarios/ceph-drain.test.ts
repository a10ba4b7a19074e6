import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephStage, openCephStage } from './testing/ceph-stage.ts'

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

let stage: CephStage
afterEach(() => stage.close())

const calm = ['rook-ceph-osd']
const xIsOpen = ['rook-ceph-osd-zone-zone-y', 'rook-ceph-osd-zone-zone-z']
const isCalm = () => stage.osdBudgets().join() === calm.join()

async function openGuarded(file: string): Promise<void> {
  stage = await openCephStage(file)
  stage.startOperator()
  await stage.until('the default budget is there', isCalm, 30)
  await stage.seconds(5)
}

async function drained(node: string): Promise<void> {
  const drain = stage.drain(node)
  await stage.until(`${node} is drained`, drain.isOver)
  await drain.ended
  // A drain that ends and leaves an OSD behind would let its node reboot under it.
  expect(stage.osdsOn(node)).toEqual([])
}

it('the example of the design: a zone is drained, the others are held, and all is as before', async () => {
  stage = await openCephStage(threeZones)
  const { trace } = stage
  trace.chapter('The operator comes')
  stage.startOperator()
  await stage.seconds(10)
  expect(stage.osdBudgets()).toEqual(calm)

  trace.chapter('An administrator drains node-a')
  await drained('node-a')
  expect(stage.osdBudgets()).toEqual(xIsOpen)
  await stage.seconds(60)
  expect(stage.osdBudgets()).toEqual(xIsOpen)

  trace.chapter('node-a is back')
  await stage.uncordon('node-a')
  await stage.until('the default budget is back', isCalm)
  await stage.seconds(30)

  expect(stage.oracle.violations).toEqual([])
  await expect(trace.text()).toMatchFileSnapshot('./ceph-drain.golden.txt')
})

it('a second drain waits until the first node is back and its data clean, and then goes by itself', async () => {
  await openGuarded(threeZones)
  await drained('node-a')
  const second = stage.drain('node-b')
  await stage.seconds(120)
  expect(second.isOver()).toBe(false)
  expect(stage.osdBudgets()).toEqual(xIsOpen)

  await stage.uncordon('node-a')
  await stage.until('the second drain is over', second.isOver)
  await second.ended
  expect(stage.osdBudgets()).toEqual(['rook-ceph-osd-zone-zone-x', 'rook-ceph-osd-zone-zone-z'])

  await stage.uncordon('node-b')
  await stage.until('the default budget is back', isCalm)
  expect(await stage.nooutBuckets()).toEqual([])
  expect(stage.oracle.violations).toEqual([])
})

it('a dead disk whose data is clean again elsewhere blocks nobody', async () => {
  await openGuarded(threeZones)
  stage.failOsd(1)
  await stage.until(
    'its data is clean elsewhere, and the budget leaves it out',
    () => stage.budgetText('rook-ceph-osd') === 'maxUnavailable 1, without osd 1',
  )
  expect(await stage.nooutBuckets()).toEqual([])
  await drained('node-b')
  await stage.uncordon('node-b')
  await stage.until('the default budget is back', isCalm)
  expect(stage.oracle.violations).toEqual([])
})

it('a crash sets no noout; a cordon of the same node afterwards does', async () => {
  await openGuarded(threeZones)
  stage.failOsd(0)
  await stage.until('the other zones are held', () => stage.osdBudgets().join() === xIsOpen.join())
  expect(await stage.nooutBuckets()).toEqual([])
  await stage.cordon('node-a')
  await stage.until('noout is set', async () => (await stage.nooutBuckets()).join() === 'zone-x', 30)
  expect(stage.oracle.violations).toEqual([])
})

it('a node that stays cordoned holds nobody up once its data has been rebuilt on others', async () => {
  await openGuarded(fourHosts)
  await drained('node-1')
  expect(await stage.nooutBuckets()).toEqual(['node-1'])
  await stage.until('noout has expired', async () => (await stage.nooutBuckets()).length === 0, 120)
  await stage.until('the other hosts are free', isCalm, 300)
  await drained('node-4')
  expect(stage.oracle.violations).toEqual([])
})

it('while Ceph is silent nothing more may go down, after a short grace; when it answers again all is as before', async () => {
  await openGuarded(threeZones)
  stage.silenceCeph()
  // At most a minute until somebody asks, and then the grace.
  await stage.seconds(95)
  const drain = stage.drain('node-a')
  await stage.seconds(60)
  expect(stage.runningOsds()).toEqual([0, 1, 2, 3, 4, 5])
  expect(drain.isOver()).toBe(false)

  stage.letCephAnswer()
  await stage.until('the drain is over', drain.isOver)
  await drain.ended
  await stage.uncordon('node-a')
  await stage.until('the default budget is back', isCalm)
  expect(stage.oracle.violations).toEqual([])
})

describe('an operator that is killed in the middle of a drain goes on where it was', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])('after %i more writes', async (writes) => {
    await openGuarded(threeZones)
    stage.killOperatorAfter(writes)
    const drain = stage.drain('node-a')
    await stage.seconds(30)
    await stage.stopOperator()
    stage.startOperator()
    await stage.until('the drain is over', drain.isOver)
    await drain.ended
    expect(stage.osdBudgets()).toEqual(xIsOpen)

    await stage.uncordon('node-a')
    await stage.until('the default budget is back', isCalm)
    await stage.seconds(30)
    expect(await stage.nooutBuckets()).toEqual([])
    expect(stage.oracle.violations).toEqual([])
  })
})
