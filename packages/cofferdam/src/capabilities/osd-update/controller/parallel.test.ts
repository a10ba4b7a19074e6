import { expect, it } from 'vitest'
import { zonedCluster } from '../../ceph-drain/testing/ceph-stage.ts'
import { newImage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

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
    const stage = await openOsdUpdateStage(wide, seed)
    stage.operate({ controllers: ['osd-update'] })
    await stage.patchCluster({ spec: { updatePolicy: { osds: { maxInParallelPerCluster: '100%' } } } })
    await stage.seconds(30)
    await stage.wantImage(newImage)
    expect(await stage.until(async () => (await stage.images()).join() === newImage, 900)).toBe(true)
    await stage.watch(90)
    expect(stage.broken).toEqual([])
    expect(stage.mostDown()).toBeGreaterThan(1)
    expect(await stage.told()).toEqual(['Normal OsdsUpdating', 'Normal OsdsUpToDate'])
    await stage.close()
  },
)
