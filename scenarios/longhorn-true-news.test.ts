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
