import { expect, it } from 'vitest'
import { zonedCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

/** Four zones with two nodes of two OSDs, so that OSDs of one zone, and of zones that share nothing, may go together. */
const wide = zonedCluster({
  zones: ['w', 'x', 'y', 'z'],
  nodesPerZone: 2,
  osdsPerNode: 2,
  pgs: 32,
  pace: { readyAfterSeconds: 10, terminationSeconds: 2 },
})

it.each([1, 2, 3])(
  'with all the room there is, many OSDs go at once and every placement group keeps its floor (cluster %i)',
  async (seed) => {
    const fixture = await openOsdUpdateFixture(wide, seed)
    fixture.operate({ controllers: ['osd-update'] })
    await fixture.patchCluster({ spec: { updatePolicy: { osds: { maxInParallelPerCluster: '100%' } } } })
    await fixture.seconds(30)
    await fixture.wantImage(newImage)
    expect(await fixture.until(async () => (await fixture.images()).join() === newImage, 900)).toBe(true)
    await fixture.watch(90)
    expect(fixture.broken).toEqual([])
    expect(fixture.mostDown()).toBeGreaterThan(1)
    expect(await fixture.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
    await fixture.close()
  },
)
