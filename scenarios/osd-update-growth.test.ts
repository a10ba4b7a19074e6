import { afterEach, describe, expect, it } from 'vitest'
import { openUpdateStage, type UpdateStage } from './testing/osd-update-stage.ts'

let stage: UpdateStage
afterEach(() => stage.close())

const [old, next, other] = ['v19.2.3', 'v19.2.4', 'v19.2.5'] as const

async function openGrowing(): Promise<void> {
  stage = await openUpdateStage({
    annotations: { 'cofferdam.io/update-max-in-parallel': '3' },
    rookImage: 'registry.example/rook/ceph:v1.18.8',
  })
  stage.trace.chapter('The operator comes, and looks what disks there are')
  stage.operate()
  await stage.seconds(60)
}

const serving = () => stage.ceph.controls.truth().serving.size
const isUp = (osds: number) => stage.osdIds().length === osds && serving() === osds

async function end(version: string): Promise<void> {
  await stage.until('all are updated', () => stage.isUpdated(version), 1_200)
  await stage.until('the storage is given back', () => stage.holders().length === 0, 180)
  const { violations, below } = stage.oracle
  expect({ violations, below }).toEqual({ violations: [], below: [] })
}

describe('growth has its own way beside updates', () => {
  it('update and grow together: new OSDs come at once, with the new image, and are not restarted', async () => {
    await openGrowing()
    stage.trace.chapter('Two disks are put in, and another image is wanted')
    await stage.putDisks('storage-1', 'sdx')
    await stage.putDisks('storage-4', 'sdx')
    await stage.want(next)
    await stage.until('both are there', () => stage.osdIds().length === 14, 60)
    expect(stage.versionsByOsd().filter((line) => line.endsWith(old)).length).toBeGreaterThan(0)
    expect(stage.versionsByOsd().slice(12)).toEqual([`12: ${next}`, `13: ${next}`])
    await end(next)
    expect(serving()).toBe(14)
    expect(stage.oracle.started.map((start) => Number(start.split(' ')[0])).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, osd) => osd),
    )
    await expect(stage.trace.text()).toMatchFileSnapshot('./osd-update-growth.golden.txt')
  }, 240_000)

  it('an update that cannot go on keeps no disk waiting, and goes on when it can', async () => {
    await openGrowing()
    await stage.ceph.commands.run({ prefix: 'osd pool set', pool: 'data', var: 'min_size', val: '3' })
    stage.oracle.poolsChanged()
    await stage.seconds(10)
    await stage.putDisks('storage-2', 'sdx')
    await stage.want(next)
    await stage.until('the new OSD serves', () => isUp(13), 120)
    await stage.seconds(60)
    expect(stage.oracle.taken()).toBe(0)
    await stage.ceph.commands.run({ prefix: 'osd pool set', pool: 'data', var: 'min_size', val: '2' })
    stage.oracle.poolsChanged()
    await end(next)
  }, 240_000)

  it('the CephCluster changes while disks are prepared and OSDs are on their way: all ends at what it wants last', async () => {
    await openGrowing()
    await stage.putDisks('storage-3', 'sdx')
    stage.prepare.setFault('storage-5', { message: 'lsblk: no such device' })
    await stage.want(next)
    await stage.seconds(2)
    await stage.want(other)
    await stage.until('the new OSD serves', () => isUp(13), 300)
    await end(other)
    // Whether a batch is asked about at the moment when a new OSD joins, and Ceph then wants to be asked again, is chance.
    const warnings = (await stage.told()).filter(
      (line) => line.startsWith('Warning') && !line.endsWith('CephDisagrees'),
    )
    expect(warnings).toEqual(['Warning OsdGrowthFailed'])
  }, 240_000)
})
