import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { expect, it } from 'vitest'
import { openEvictionResponders } from './testing/eviction-responders.ts'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'

async function withResponder<T>(
  moveSeconds: number,
  scenario: (fixture: LockFixture, seen: { done: readonly string[]; asks(): string[]; vm: string }) => Promise<T>,
): Promise<T> {
  const fixture = await openLockFixture({ server: { optionalField: 'evictionResponders' } })
  const responders = await openEvictionResponders(fixture)
  try {
    await responders.addMovable('vm')
    responders.control()
    const { done } = responders.respond(moveSeconds)
    const [vm = ''] = fixture.podsOn('node-1')
    const outcome = await scenario(fixture, { done, asks: responders.asks, vm })
    expect(fixture.oracle.violations).toEqual([])
    return outcome
  } finally {
    responders.stop()
    await fixture.close()
  }
}

/** Tries every write at which it can be stopped, until one comes too late. */
async function atEveryWrite(tell: (writes: number) => Promise<boolean>): Promise<number> {
  for (let writes = 0; ; writes += 1) if (!(await tell(writes))) return writes
}

const request = (fixture: LockFixture) => fixture.request('reboot', { nodeName: 'node-1' })

it('at whatever write the operator is killed, the next has the pod moved once', async () => {
  const tried = await atEveryWrite((writes) =>
    withResponder(120, async (fixture, { done, vm }) => {
      const operator = fixture.operate({ isReplaced: true })
      operator.killAfter(writes)
      await request(fixture)
      await fixture.reach('reboot', 'Drained', 600)
      expect([writes, done]).toEqual([writes, [`moves ${vm}`, `moved ${vm}`]])
      return operator.isDead()
    }),
  )
  expect(tried).toBeGreaterThan(8)
})

it('at whatever write the operator is killed while a request is cancelled, nothing stays asked and nothing held', async () => {
  const tried = await atEveryWrite((writes) =>
    withResponder(6_000, async (fixture, { done, asks, vm }) => {
      const operator = fixture.operate({ isReplaced: true })
      await request(fixture)
      await fixture.until('it has begun', () => done.length > 0)
      await fixture.seconds(30)
      operator.killAfter(writes)
      await fixture.api.delete(nodeDisruptions, { name: 'reboot' })
      await fixture.until('nothing is held', () => fixture.heldKeys().length === 0)
      await fixture.seconds(20)
      const outcome = [writes, asks(), fixture.podsOn('node-1'), fixture.isCordoned('node-1')]
      expect(outcome).toEqual([writes, [`${vm}: Withdrawn`], [vm], false])
      return operator.isDead()
    }),
  )
  expect(tried).toBeGreaterThan(3)
})

it('at whatever write the leader stands still, the next that leads withdraws what it had asked for a request that is cancelled', async () => {
  const asked: number[] = []
  await atEveryWrite((writes) =>
    withResponder(6_000, async (fixture, { asks }) => {
      const first = fixture.operate({ identity: 'first' })
      await fixture.seconds(5)
      fixture.operate({ identity: 'second' })
      await fixture.seconds(5)
      first.freezeAfter(writes)
      await request(fixture)
      await fixture.seconds(10)
      const hasFrozen = first.isFrozen()
      if (hasFrozen && asks().length > 0) asked.push(writes)
      await fixture.api.delete(nodeDisruptions, { name: 'reboot' })
      await fixture.seconds(60)
      expect([writes, asks().filter((ask) => ask.endsWith(': Eviction')), fixture.heldKeys()]).toEqual([writes, [], []])
      first.thaw()
      await fixture.seconds(30)
      return hasFrozen
    }),
  )
  expect(asked.length).toBeGreaterThan(0)
})
