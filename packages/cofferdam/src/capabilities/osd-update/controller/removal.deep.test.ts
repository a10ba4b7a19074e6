import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture

afterEach(async () => {
  await fixture.close()
  expect(fixture.failures).toEqual([])
})

const wanted = { spec: { updatePolicy: { osds: { removeIfOutAndSafeToDestroy: true } } } }

/** An operator in a cluster that is older than an hour; the disk of osd.5 dies, and its pod with it. */
async function openWithDeadDisk(isWanted: boolean): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await fixture.seconds(3_600)
  if (isWanted) await fixture.patchCluster(wanted)
  fixture.operate({ controllers: ['osd-update'] })
  await fixture.seconds(60)
  fixture.ceph.controls.failDisk(5)
  await scale(5, 0)
}

const scale = (id: number, replicas: number) =>
  fixture.api.patch(
    deployments,
    { namespace, name: `rook-ceph-osd-${id}` },
    { type: 'merge', body: { spec: { replicas } } },
  )
const ids = async () => (await fixture.osds()).map(({ metadata }) => metadata.labels?.['ceph-osd-id']).sort()
const five = ['0', '1', '2', '3', '4']
const six = [...five, '5']

describe('an OSD whose disk died, in a cluster with removeIfOutAndSafeToDestroy', () => {
  it('loses its Deployment once Ceph has it out and all its data elsewhere, is told of once, and keeps its entry in Ceph', async () => {
    await openWithDeadDisk(true)
    await fixture.seconds(500)
    expect(await ids()).toEqual(six)
    await fixture.seconds(1_500)
    expect([await ids(), await fixture.told()]).toEqual([five, ['Normal OsdRemoved']])
    const { out } = await fixture.ceph.commands.run({ prefix: 'osd ls' })
    expect(JSON.parse(out)).toEqual([0, 1, 2, 3, 4, 5])
    fixture.asked.length = 0
    await fixture.seconds(600)
    expect(fixture.asked).toEqual([])
  })

  it('stays while Ceph does not say that it can do without it, and goes when Ceph does', async () => {
    await openWithDeadDisk(true)
    fixture.refused.add('osd safe-to-destroy')
    await fixture.seconds(2_400)
    expect([await ids(), await fixture.told()]).toEqual([six, []])
    fixture.refused.clear()
    await fixture.seconds(120)
    expect(await ids()).toEqual(five)
  })

  it('stays when its data has nowhere else to go', async () => {
    await openWithDeadDisk(true)
    fixture.ceph.controls.setRecoveryRate(0)
    await fixture.seconds(2_400)
    expect([await ids(), fixture.asked.includes('osd safe-to-destroy')]).toEqual([six, true])
  })

  it('stays, and Ceph is not asked about it, where the cluster did not ask for its removal', async () => {
    await openWithDeadDisk(false)
    await fixture.seconds(2_400)
    expect([await ids(), fixture.asked]).toEqual([six, []])
  })

  it('is no question to Ceph when it comes back within minutes', async () => {
    await openWithDeadDisk(true)
    await fixture.seconds(300)
    fixture.ceph.controls.mendDisk(5)
    await scale(5, 1)
    await fixture.seconds(1_800)
    expect([await ids(), fixture.asked]).toEqual([six, []])
  })
})
