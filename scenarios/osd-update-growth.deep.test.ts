import { afterEach, describe, expect, it } from 'vitest'
import { openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'

let fixture: UpdateFixture
afterEach(() => fixture.close())

const [old, next, other] = ['v19.2.3', 'v19.2.4', 'v19.2.5'] as const

async function openGrowing(): Promise<void> {
  fixture = await openUpdateFixture({
    annotations: { 'cofferdam.io/update-max-in-parallel': '3' },
    rookImage: 'registry.example/rook/ceph:v1.18.8',
  })
  fixture.trace.chapter('The operator comes, and looks what disks there are')
  fixture.operate()
  await fixture.seconds(60)
}

const serving = () => fixture.ceph.controls.truth().serving.size
const isUp = (osds: number) => fixture.osdIds().length === osds && serving() === osds

async function end(version: string): Promise<void> {
  await fixture.until('all are updated', () => fixture.isUpdated(version), 1_200)
  await fixture.until('the storage is given back', () => fixture.holders().length === 0, 180)
  const { violations, below } = fixture.oracle
  expect({ violations, below }).toEqual({ violations: [], below: [] })
}

describe('growth has its own way beside updates', () => {
  it('update and grow together: new OSDs come at once, with the new image, and are not restarted', async () => {
    await openGrowing()
    fixture.trace.chapter('Two disks are put in, and another image is wanted')
    await fixture.putDisks('storage-1', 'sdx')
    await fixture.putDisks('storage-4', 'sdx')
    await fixture.want(next)
    await fixture.until('both are there', () => fixture.osdIds().length === 14, 60)
    expect(fixture.versionsByOsd().filter((line) => line.endsWith(old)).length).toBeGreaterThan(0)
    expect(fixture.versionsByOsd().slice(12)).toEqual([`12: ${next}`, `13: ${next}`])
    await end(next)
    expect(serving()).toBe(14)
    expect(fixture.oracle.started.map((start) => Number(start.split(' ')[0])).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, osd) => osd),
    )
    await expect(fixture.trace.text()).toMatchFileSnapshot('./osd-update-growth.golden.txt')
  })

  it('an update that cannot go on keeps no disk waiting, and goes on when it can', async () => {
    await openGrowing()
    await fixture.ceph.commands.run({ prefix: 'osd pool set', pool: 'data', var: 'min_size', val: '3' })
    fixture.oracle.poolsChanged()
    await fixture.seconds(10)
    await fixture.putDisks('storage-2', 'sdx')
    await fixture.want(next)
    await fixture.until('the new OSD serves', () => isUp(13), 120)
    await fixture.seconds(60)
    expect(fixture.oracle.taken()).toBe(0)
    await fixture.ceph.commands.run({ prefix: 'osd pool set', pool: 'data', var: 'min_size', val: '2' })
    fixture.oracle.poolsChanged()
    await end(next)
  })

  it('the CephCluster changes while disks are prepared and OSDs are on their way: all ends at what it wants last', async () => {
    await openGrowing()
    await fixture.putDisks('storage-3', 'sdx')
    fixture.prepare.setFault('storage-5', { message: 'lsblk: no such device' })
    await fixture.want(next)
    await fixture.seconds(2)
    await fixture.want(other)
    await fixture.until('the new OSD serves', () => isUp(13), 300)
    await end(other)
    // Whether a batch is asked about at the moment when a new OSD joins, and Ceph then wants to be asked again, is chance.
    const warnings = (await fixture.told()).filter(
      (line) => line.startsWith('Warning') && !line.endsWith('CephDisagrees'),
    )
    expect(warnings).toEqual(['Warning OsdGrowthFailed'])
  })
})
