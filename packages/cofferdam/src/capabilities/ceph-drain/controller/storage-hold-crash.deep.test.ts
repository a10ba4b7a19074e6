import { drainNode } from '@cofferdam/simulator/world/testing/drain.ts'
import { expect, it } from 'vitest'
import { installDefinitions } from '../../../ledger/store/testing/ledger-stage.ts'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { openCephStage, zonedCluster } from '../testing/ceph-stage.ts'
import { osdBudgetsOf, storageHolders, watchZonesOf } from '../testing/storage-watch.ts'

const pairs = zonedCluster({ nodesPerZone: 2, osdsPerNode: 2 })
const calm = ['rook-ceph-osd: 1 of all']
const controllers = ['ceph-drain', 'node-disruption', 'disruption-ledger'] as const

it('an operator that dies after any of its writes leaves no key behind: the next one brings the drain to its end', async () => {
  let writes = 0
  for (let hasDied = true; hasDied; writes += 1) {
    const stage = await openCephStage(pairs)
    await installDefinitions(stage.api)
    const line = dyingAfter(stage.api, writes)
    const calmOperator = stage.operate({ controllers })
    await stage.seconds(90)
    await Promise.all([calmOperator.stop(), stage.seconds(20)])

    const mortal = stage.operate({ controllers, api: line.api })
    const drained = drainNode(stage, 'node-y-1')
    const seen = await watchZonesOf(stage, 30)
    await Promise.all([mortal.stop(), stage.seconds(20)])
    stage.operate({ controllers })
    seen.push(...(await watchZonesOf(stage, 60)))
    await drained
    expect(await storageHolders(stage)).toEqual(['y by ceph-drain, Acting'])
    await stage.cordon('node-y-1', false)
    await stage.seconds(120)
    expect(seen.filter((zones) => zones !== '' && zones !== 'y')).toEqual([])
    expect(await storageHolders(stage)).toEqual([])
    expect(await osdBudgetsOf(stage)).toEqual(calm)
    hasDied = line.died()
    await stage.close()
  }
  expect(writes).toBeGreaterThan(8)
}, 120_000)
