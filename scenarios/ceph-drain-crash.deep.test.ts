import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'

/** Three zones with a node each, and two OSDs on each node. */
const threeZones = readFileSync(new URL('../examples/clusters/ceph-zones.yaml', import.meta.url), 'utf8')

let fixture: CephFixture
afterEach(() => fixture.close())

const isCalm = () => fixture.osdBudgets().join() === 'rook-ceph-osd'

it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
  'an operator that is killed in the middle of a drain, after %i more writes, goes on where it was',
  async (writes) => {
    fixture = await openCephFixture(threeZones)
    fixture.startOperator()
    await fixture.until('the default budget is there', isCalm, 30)
    await fixture.seconds(5)
    fixture.killOperatorAfter(writes)
    const drain = fixture.drain('node-a')
    await fixture.seconds(30)
    await fixture.stopOperator()
    fixture.startOperator()
    await fixture.until('the drain is over', drain.isOver)
    await drain.ended
    expect(fixture.osdBudgets()).toEqual(['rook-ceph-osd-zone-zone-y', 'rook-ceph-osd-zone-zone-z'])

    await fixture.uncordon('node-a')
    await fixture.until('the default budget is back', isCalm)
    await fixture.seconds(30)
    expect(await fixture.nooutBuckets()).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
  },
)
