import { expect, it } from 'vitest'
import { installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-stage.ts'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { smallCluster } from '../../ceph-drain/testing/ceph-stage.ts'
import { newImage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

const controllers = ['osd-update', 'disruption-ledger', 'node-disruption'] as const

/** One OSD on each node: every kind of write comes up, and none of them more often than it tells something. */
const threeOsds = smallCluster.replace('perNode: 2', 'perNode: 1').replace('pgs: 16', 'pgs: 8')

it('an operator that dies after any of its writes: the next one ends the update, each OSD is restarted once, and no placement group is ever out of reach', async () => {
  const ends: string[] = []
  for (let writes = 0; writes < 60; writes += 1) {
    const stage = await openOsdUpdateStage(threeOsds)
    await installDefinitions(stage.api)
    const line = dyingAfter(stage.api, writes)
    const mortal = stage.operate({ api: line.api, controllers })
    await stage.wantImage(newImage)
    await stage.until(async () => line.died() || (await stage.images()).join() === newImage, 300)
    const dead = mortal.stop()
    await stage.watch(11)
    await dead

    stage.operate({ controllers })
    const isUpdated = async () => (await stage.images()).join() === newImage
    expect([writes, await stage.until(isUpdated, 600)]).toEqual([writes, true])
    await stage.watch(40)
    expect([writes, stage.broken]).toEqual([writes, []])
    const revisions = (await stage.osds()).map(
      ({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'],
    )
    expect([writes, revisions]).toEqual([writes, ['2', '2', '2']])
    const { status } = await ledgerObject(stage.api)
    const parsed = await stage.updateRecord()
    expect([parsed, status?.entries ?? []]).toMatchObject([{ record: { failed: [], frozen: undefined } }, []])
    await stage.close()
    ends.push(line.died() ? 'died' : 'lived')
    if (!line.died()) break
  }
  expect(ends.at(-1)).toBe('lived')
  expect(ends.length).toBeGreaterThan(12)
}, 240_000)
