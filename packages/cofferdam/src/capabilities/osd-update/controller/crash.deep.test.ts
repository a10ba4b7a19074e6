import { expect, it } from 'vitest'
import { installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-fixture.ts'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { smallCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

const controllers = ['osd-update', 'disruption-ledger', 'node-disruption'] as const

/** One OSD on each node: every kind of write comes up, and none of them more often than it tells something. */
const threeOsds = smallCluster.replace('perNode: 2', 'perNode: 1').replace('pgs: 16', 'pgs: 8')

it('an operator that dies after any of its writes: the next one ends the update, each OSD is restarted once, no noout is left, and no placement group is ever out of reach', async () => {
  const ends: string[] = []
  for (let writes = 0; writes < 60; writes += 1) {
    const fixture = await openOsdUpdateFixture(threeOsds)
    await installDefinitions(fixture.api)
    const line = dyingAfter(fixture.api, writes)
    const mortal = fixture.operate({ api: line.api, controllers })
    await fixture.wantImage(newImage)
    await fixture.until(async () => line.died() || (await fixture.images()).join() === newImage, 300)
    const dead = mortal.stop()
    await fixture.watch(11)
    await dead

    fixture.operate({ controllers })
    const isUpdated = async () => (await fixture.images()).join() === newImage
    expect([writes, await fixture.until(isUpdated, 600)]).toEqual([writes, true])
    await fixture.watch(40)
    expect([writes, fixture.broken]).toEqual([writes, []])
    const revisions = (await fixture.osds()).map(
      ({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'],
    )
    expect([writes, revisions]).toEqual([writes, ['2', '2', '2']])
    expect([writes, await fixture.nooutOsds()]).toEqual([writes, []])
    const { status } = await ledgerObject(fixture.api)
    const parsed = await fixture.updateRecord()
    expect([parsed, status?.entries ?? []]).toMatchObject([{ record: { failed: [], frozen: undefined } }, []])
    await fixture.close()
    ends.push(line.died() ? 'died' : 'lived')
    if (!line.died()) break
  }
  expect(ends.at(-1)).toBe('lived')
  expect(ends.length).toBeGreaterThan(12)
})
