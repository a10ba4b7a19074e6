import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { budget } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LockFixture, lockText, openLockFixture, type StagedOperator } from './testing/lock-fixture.ts'

const minute = 60_000
const appLocks = { maxTtlMs: 4 * minute, maxHoldMs: 12 * minute, maxPerNamespace: 5 }
const web = { namespace: 'shop', name: 'web' }
const forEver = '{"until":"2099-01-01T00:00:00Z","holder":"bob","reason":"for ever"}'

let fixture: LockFixture
let began: number
beforeEach(async () => {
  fixture = await openLockFixture()
  await fixture.addLeaving('web')
})
afterEach(() => fixture.close())

/** The leader first; the other takes over when it dies. */
const operators: StagedOperator[] = []
async function operateTwo() {
  operators.splice(0, operators.length, fixture.operate({ identity: 'op-0', appLocks }))
  await fixture.seconds(5)
  operators.push(fixture.operate({ identity: 'op-1', appLocks }))
  await fixture.seconds(5)
  began = fixture.clock.now()
}
async function changeLeader() {
  operators.shift()?.kill()
  operators.push(fixture.operate({ identity: `op-${fixture.clock.now()}`, appLocks }))
}

const minutesSince = () => (fixture.clock.now() - began) / minute
const evicts = () =>
  evictPod(fixture.api, { namespace: 'shop', name: fixture.podOf('web') }, { dryRun: true }).then(
    () => 'granted',
    (error: Error) => (error.message.includes('locked budget shop/web') ? 'locked' : error.message),
  )

/** What the guard says at each half minute, and since when and until when by the request that waits for it. */
async function untilUnlocked(each: () => Promise<void>): Promise<number> {
  while (minutesSince() < 40) {
    if ((await evicts()) === 'granted') return minutesSince()
    await each()
    await fixture.seconds(30)
  }
  return Number.POSITIVE_INFINITY
}

it('an owner who prolongs, strips, deletes and re-creates while operators take over from one another has twelve, and no more', async () => {
  await operateTwo()
  await fixture.lock('web', lockText(fixture.clock, 240))
  await fixture.seconds(2)
  await fixture.request('reboot-1', { nodeName: fixture.nodeOf(fixture.podOf('web')), force: true })
  await fixture.seconds(5)
  expect(fixture.statusOf('reboot-1').blockedBy).toMatchObject([{ reason: 'AppLocked', since: rfc3339(began) }])
  let turn = 0
  const unlockedAfter = await untilUnlocked(async () => {
    turn += 1
    if (turn % 3 !== 0) return
    await changeLeader()
    await fixture.api.delete(podDisruptionBudgets, web)
    const annotations = { 'cofferdam.io/lock': lockText(fixture.clock, 240) }
    await fixture.api.create(podDisruptionBudgets, {
      ...budget('web', { maxUnavailable: 1 }),
      metadata: { ...web, annotations },
    })
    const body = { metadata: { managedFields: [{}] } }
    await fixture.api.patch(podDisruptionBudgets, web, { type: 'merge', body })
  })
  expect(unlockedAfter).toBeGreaterThanOrEqual(11.9)
  expect(unlockedAfter).toBeLessThan(12.6)
  // The operator's answer is the guard's.
  await fixture.reach('reboot-1', 'Drained', 120)
  expect(fixture.oracle.violations).toEqual([])
})

it('an end in 2099 locks at once, and for four from when it was written, though its managed fields are dated ahead', async () => {
  await operateTwo()
  await fixture.lock('web', forEver)
  await fixture.seconds(1)
  const unlockedAfter = await untilUnlocked(async () => {
    const { metadata, ...rest } = await fixture.api.get(podDisruptionBudgets, web)
    const managedFields = (metadata.managedFields ?? []).map((entry) => ({ ...entry, time: '2098-01-01T00:00:00Z' }))
    await fixture.api.update(podDisruptionBudgets, { ...rest, metadata: { ...metadata, managedFields } })
    if (minutesSince() < 1) await changeLeader()
  })
  expect(unlockedAfter).toBeGreaterThanOrEqual(3.9)
  expect(unlockedAfter).toBeLessThan(4.6)
  await fixture.seconds(900)
  expect(await evicts()).toBe('granted')
})
