import { afterEach, expect, it } from 'vitest'
import { type FollowedLonghorn, followLonghorn } from './testing/longhorn-agreement.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { pair, single } from './testing/longhorn-rows.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: LonghornFixture
let followed: FollowedLonghorn
afterEach(async () => {
  await followed.stop()
  await fixture.close()
})

it.each([
  ['owner', 'block-for-eviction', 'NoPlaceForReplica'],
  [null, 'block-if-contains-last-replica', 'LastReplica'],
] as const)(
  'mode %s, %s: a node that is drained is held or free for explain, status, the page and the API server alike: status said "may go" of a node whose evictions were refused',
  async (mode, policy, reason) => {
    fixture = await openLonghornFixture(
      { volumes: [single, pair], ownDrainHandling: mode !== 'owner' },
      { policy, annotations: { 'cofferdam.io/manage': mode } },
    )
    await writeOperatorLease(fixture)
    fixture.operate()
    followed = followLonghorn(fixture, mode === 'owner')
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
