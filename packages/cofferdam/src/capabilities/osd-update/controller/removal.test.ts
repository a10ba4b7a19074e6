import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace } from '../../ceph-drain/testing/ceph-stage.ts'
import { type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

let stage: OsdUpdateStage

afterEach(async () => {
  await stage.close()
  expect(stage.failures).toEqual([])
})

const wanted = { spec: { updatePolicy: { osds: { removeIfOutAndSafeToDestroy: true } } } }

/** An operator in a cluster that is older than an hour; the disk of osd.5 dies, and its pod with it. */
async function openWithDeadDisk(isWanted: boolean): Promise<void> {
  stage = await openOsdUpdateStage()
  await stage.seconds(3_600)
  if (isWanted) await stage.patchCluster(wanted)
  stage.operate({ controllers: ['osd-update'] })
  await stage.seconds(60)
  stage.ceph.controls.failDisk(5)
  await scale(5, 0)
}

const scale = (id: number, replicas: number) =>
  stage.api.patch(
    deployments,
    { namespace, name: `rook-ceph-osd-${id}` },
    { type: 'merge', body: { spec: { replicas } } },
  )
const ids = async () => (await stage.osds()).map(({ metadata }) => metadata.labels?.['ceph-osd-id']).sort()
const five = ['0', '1', '2', '3', '4']
const six = [...five, '5']

describe('an OSD whose disk died, in a cluster with removeIfOutAndSafeToDestroy', () => {
  it('loses its Deployment once Ceph has it out and all its data elsewhere, is told of once, and keeps its entry in Ceph', async () => {
    await openWithDeadDisk(true)
    await stage.seconds(500)
    expect(await ids()).toEqual(six)
    await stage.seconds(1_500)
    expect([await ids(), await stage.told()]).toEqual([five, ['Normal OsdRemoved']])
    const { out } = await stage.ceph.commands.run({ prefix: 'osd ls' })
    expect(JSON.parse(out)).toEqual([0, 1, 2, 3, 4, 5])
    stage.asked.length = 0
    await stage.seconds(600)
    expect(stage.asked).toEqual([])
  })

  it('stays while Ceph does not say that it can do without it, and goes when Ceph does', async () => {
    await openWithDeadDisk(true)
    stage.refused.add('osd safe-to-destroy')
    await stage.seconds(2_400)
    expect([await ids(), await stage.told()]).toEqual([six, []])
    stage.refused.clear()
    await stage.seconds(120)
    expect(await ids()).toEqual(five)
  })

  it('stays when its data has nowhere else to go', async () => {
    await openWithDeadDisk(true)
    stage.ceph.controls.setRecoveryRate(0)
    await stage.seconds(2_400)
    expect([await ids(), stage.asked.includes('osd safe-to-destroy')]).toEqual([six, true])
  })

  it('stays, and Ceph is not asked about it, where the cluster did not ask for its removal', async () => {
    await openWithDeadDisk(false)
    await stage.seconds(2_400)
    expect([await ids(), stage.asked]).toEqual([six, []])
  })

  it('is no question to Ceph when it comes back within minutes', async () => {
    await openWithDeadDisk(true)
    await stage.seconds(300)
    stage.ceph.controls.mendDisk(5)
    await scale(5, 1)
    await stage.seconds(1_800)
    expect([await ids(), stage.asked]).toEqual([six, []])
  })
})
