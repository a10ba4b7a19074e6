import { longhornNamespace, longhornVolumeAttachments } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { LonghornAnswer } from '@cofferdam/product/capabilities/longhorn-drain/view/longhorn-answer.ts'
import { afterEach, expect, it } from 'vitest'
import { askExplain } from './testing/ask-commands.ts'
import { type FollowedLonghorn, followLonghorn } from './testing/longhorn-agreement.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { pair } from './testing/longhorn-rows.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: LonghornFixture
let followed: FollowedLonghorn
afterEach(async () => {
  await followed.stop()
  await fixture.close()
})

/** What explain says of node-1, in which status, the page and the API server must agree. */
async function said(): Promise<LonghornAnswer> {
  expect((await followed.compare()).disagreements).toEqual([])
  const { answer } = await askExplain(fixture, 'node/node-1')
  return (answer as { longhorn: LonghornAnswer }).longhorn
}

it('a replica is called moving only while it moves: Longhorn on its node was dead, and for as long it was said to be copied', async () => {
  fixture = await openLonghornFixture(
    { volumes: [pair], ownDrainHandling: true, timings: { rebuildBytesPerSecond: 4 * 1024 ** 2 } },
    { nodeCount: 4, annotations: { 'cofferdam.io/manage': null } },
  )
  await writeOperatorLease(fixture)
  followed = followLonghorn(fixture, false)
  await fixture.seconds(5)
  await fixture.use('db', 'node-2')
  fixture.controls.setManager('node-1', false)
  await fixture.seconds(30)
  const drain = fixture.drain('node-1')
  await fixture.seconds(20)
  expect(await said()).toMatchObject({
    reason: 'ReplicaMustLeave',
    explanation: expect.stringContaining('Longhorn has not begun to move it'),
    moving: [{ volume: 'db', state: 'not-begun' }],
  })

  await fixture.seconds(45)
  const stuck = await said()
  expect(stuck).toMatchObject({
    reason: 'LonghornStuck',
    explanation: expect.stringContaining('no longhorn-manager pod is ready on that node'),
  })
  expect(stuck).not.toHaveProperty('progress')

  fixture.controls.setManager('node-1', true)
  await fixture.until('the copy is made', () => fixture.placesOf('db').length === 3, 60)
  await fixture.seconds(3)
  expect(await said()).toMatchObject({
    reason: 'ReplicaMoving',
    explanation: expect.stringMatching(/is being copied off node node-1: db-r-\w+ on node-\d is rebuilt to \d+ %/u),
    moving: [{ volume: 'db', state: 'copying' }],
  })
  await fixture.until('the drain is over', drain.isOver, 300)
  expect([(await said()).mayDrain, fixture.isIntact('db')]).toEqual([true, true])
})

it('a detached volume stays so where no disk has room for a copy, and explain names the disks: it was attached for nothing', async () => {
  const gib = 1024 ** 3
  const volume = (name: string, node: string) => ({ name, numberOfReplicas: 1, placedOn: [node], sizeBytes: 2 * gib })
  fixture = await openLonghornFixture(
    {
      volumes: [volume('db', 'node-1'), volume('other', 'node-2'), volume('third', 'node-3')],
      disks: [{ name: 'small', maximumBytes: 3 * gib }],
      ownDrainHandling: true,
    },
    { annotations: { 'cofferdam.io/manage': null } },
  )
  await writeOperatorLease(fixture)
  followed = followLonghorn(fixture, false)
  await fixture.seconds(30)
  await fixture.cordon('node-1')
  await fixture.seconds(90)
  const { reason, explanation, heldBy } = await said()
  expect(reason).toBe('NoPlaceForReplica')
  expect(explanation).toMatch(
    /^Replica db-r-\w+ of volume db, which is detached, is to leave node node-1, but no node takes another copy: node-1 is cordoned, node-2 has no disk for it \(small has 1 GiB to schedule, the volume is 2 GiB\), node-3 has no disk/u,
  )
  expect(heldBy.map(({ passes }) => passes)).toEqual([false])
  const attachment = await fixture.api.get(longhornVolumeAttachments, { namespace: longhornNamespace, name: 'db' })
  expect(Object.keys(attachment.spec?.attachmentTickets ?? {})).toEqual([])
})
