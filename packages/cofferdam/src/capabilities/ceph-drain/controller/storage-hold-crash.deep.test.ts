import { drainNode } from '@cofferdam/simulator/world/testing/drain.ts'
import { expect, it } from 'vitest'
import { installDefinitions } from '../../../ledger/store/testing/ledger-fixture.ts'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { openCephFixture, zonedCluster } from '../testing/ceph-fixture.ts'
import { osdBudgetsOf, storageHolders, watchZonesOf } from '../testing/storage-watch.ts'

const pairs = zonedCluster({ nodesPerZone: 2, osdsPerNode: 2 })
const calm = ['rook-ceph-osd: 1 of all']
const controllers = ['ceph-drain', 'node-disruption', 'disruption-ledger'] as const

it('an operator that dies after any of its writes leaves no key behind: the next one brings the drain to its end', async () => {
  let writes = 0
  for (let hasDied = true; hasDied; writes += 1) {
    const fixture = await openCephFixture(pairs)
    await installDefinitions(fixture.api)
    const line = dyingAfter(fixture.api, writes)
    const calmOperator = fixture.operate({ controllers })
    await fixture.seconds(90)
    await Promise.all([calmOperator.stop(), fixture.seconds(20)])

    const mortal = fixture.operate({ controllers, api: line.api })
    const drained = drainNode(fixture, 'node-y-1')
    const seen = await watchZonesOf(fixture, 30)
    await Promise.all([mortal.stop(), fixture.seconds(20)])
    fixture.operate({ controllers })
    seen.push(...(await watchZonesOf(fixture, 60)))
    await drained
    expect(await storageHolders(fixture)).toEqual(['y by ceph-drain, Acting'])
    await fixture.cordon('node-y-1', false)
    await fixture.seconds(120)
    expect(seen.filter((zones) => zones !== '' && zones !== 'y')).toEqual([])
    expect(await storageHolders(fixture)).toEqual([])
    expect(await osdBudgetsOf(fixture)).toEqual(calm)
    hasDied = line.died()
    await fixture.close()
  }
  expect(writes).toBeGreaterThan(8)
})
