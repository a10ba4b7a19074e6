import { afterEach, expect, it } from 'vitest'
import { type FollowedLonghorn, followLonghorn } from './testing/longhorn-agreement.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { pair, single } from './testing/longhorn-rows.ts'
import { removeOperatorLease, writeOperatorLease } from './testing/operator-lease.ts'

let fixture: LonghornFixture
let followed: FollowedLonghorn
afterEach(async () => {
  await followed.stop()
  await fixture.close()
})

it.each([
  ['hold', 'block-for-eviction', 'NoPlaceForReplica'],
  ['guide', 'block-for-eviction', 'NoPlaceForReplica'],
  [null, 'block-if-contains-last-replica', 'LastReplica'],
] as const)(
  'mode %s, %s: a node that is drained is held or free for explain, status, the page and the API server alike',
  async (mode, policy, reason) => {
    fixture = await openLonghornFixture(
      { volumes: [single, pair] },
      { policy, annotations: { 'cofferdam.io/manage': mode } },
    )
    await writeOperatorLease(fixture)
    fixture.operate({ isGuard: true })
    followed = followLonghorn(fixture, mode === 'hold')
    await fixture.seconds(5)
    await fixture.use('db', 'node-2')
    await fixture.use('solo', 'node-3')
    fixture.drain('node-1')
    fixture.drain('node-3')
    const found = []
    for (const seconds of [0, 1, 4]) {
      await fixture.seconds(seconds)
      found.push(await followed.compare())
    }
    expect(found.flatMap(({ disagreements }) => disagreements)).toEqual([])
    expect(found.flatMap(({ reasons }) => reasons)).toContain(reason)
  },
)

it('without an operator its budgets stay, and nobody says that a cordoned node may go: explain and status did, and its evictions were refused for as long as no operator came', async () => {
  fixture = await openLonghornFixture({ volumes: [pair] }, { policy: 'always-allow' })
  await writeOperatorLease(fixture)
  followed = followLonghorn(fixture, true)
  const operator = fixture.operate({ isGuard: true })
  await fixture.seconds(5)
  operator.kill()
  await removeOperatorLease(fixture)
  await fixture.cordon('node-1')
  await fixture.seconds(30)
  expect((await followed.compare()).disagreements).toEqual([])
})
