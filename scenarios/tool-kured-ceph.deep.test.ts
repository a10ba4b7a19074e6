import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { installKured, type KuredCluster } from './testing/kured-cluster.ts'

/** Three racks with a node each, and two OSDs on each node. */
const threeRacks = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall, racks: [left, middle, right] }]
nodes: [{ name: node-left, rack: left }, { name: node-middle, rack: middle }, { name: node-right, rack: right }]
ceph:
  osds: { perNode: 2 }
  pools: [{ name: replicapool, failureDomain: rack }, { name: .mgr, failureDomain: rack, pgs: 1 }]
  pace: { recoveryPgsPerSecond: 2, outAfterSeconds: 300 }
`
const names = ['node-left', 'node-middle', 'node-right']
const minute = 60

let fixture: CephFixture
let kured: KuredCluster

afterEach(async () => {
  kured.stop()
  await fixture.close()
})

/** kured as it is run where reboots must not get stuck: two at a time, and past budgets after two minutes. */
async function open(isOptedIn: boolean): Promise<void> {
  fixture = await openCephFixture(threeRacks)
  const { api, clock, views, machines } = fixture
  const flags = { concurrency: 2, forceReboot: true, drainTimeoutMs: 120_000, downSeconds: 180 }
  kured = await installKured({ api, clock, views, kubelet: machines }, flags)
  await kured.optIn(isOptedIn)
  fixture.startOperator()
  await fixture.until('the default budget is there', () => fixture.osdBudgets().join() === 'rook-ceph-osd', 30)
  if (isOptedIn) await fixture.until('the lock is held', () => kured.holders()[0] === 'cofferdam', 30)
  for (const name of names) kured.requireReboot(name)
}

const away = () => names.filter((name) => !fixture.machines.isOn(name))

describe('kured on storage nodes', () => {
  it('reboots one failure domain after the other, each when the storage is whole again, though it has places for two', async () => {
    await open(true)
    const together = new Set<string>()
    await fixture.until(
      'all nodes are rebooted and the storage is whole',
      () => {
        if (away().length > 0) together.add(away().join(' and '))
        return kured.rebooted.length === 3 && kured.standing().length === 0
      },
      120 * minute,
    )
    expect([...together].sort()).toEqual(names)
    expect(fixture.oracle.violations).toEqual([])
    expect([...fixture.runningOsds()]).toEqual([0, 1, 2, 3, 4, 5])
    await fixture.until(
      'kured has ended the last reboot',
      () => kured.holders().join() === 'cofferdam,cofferdam',
      10 * minute,
    )
    expect([kured.traces(), names.filter((name) => kured.isAnnotated(name))]).toEqual([[], []])
  })

  it('on its own takes two failure domains down together: the OSDs of one are left, and no data can be written', async () => {
    await open(false)
    await fixture.until('two nodes are away', () => away().length === 2, 60 * minute)
    await fixture.until('the OSDs of two racks are down', () => fixture.runningOsds().length <= 2, 5 * minute)
    kured.stop()
    await fixture.until('both are back', () => away().length === 0, 10 * minute)
    await fixture.seconds(5 * minute)
  })
})
