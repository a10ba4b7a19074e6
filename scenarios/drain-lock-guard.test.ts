import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LockFixture, lockText, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

it('a drain of another tool waits at a budget that is held for a reboot, and completes when the node is back', async () => {
  fixture = await openLockFixture()
  fixture.trace.chapter('The cluster comes up')
  await fixture.addStaying('db')
  await fixture.addLeaving('web')
  fixture.operate()
  await fixture.seconds(5)
  fixture.trace.chapter('node-1 is to be rebooted around db-0, while somebody drains node-2, where db-1 is')
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  const foreign = fixture.drain('node-2')
  await fixture.seconds(30)
  expect(foreign.isOver()).toBe(false)
  expect(fixture.podsOn('node-2')).toContain('db-1')
  fixture.world.kubelet.reboot('node-1', 60)
  await fixture.reach('reboot-1', 'Completed')
  await fixture.until('the other drain is over', foreign.isOver)
  await foreign.ended
  expect(fixture.oracle.violations).toEqual([])
  // Which operator it was is drawn by chance.
  const told = fixture.trace.text().replaceAll(/operator-[a-z0-9]{8}/g, 'the operator')
  await expect(told).toMatchFileSnapshot('./drain-lock-foreign-drain.golden.txt')
})

it('a drain of another tool waits at an owner’s lock with the owner’s words, and completes when it has expired', async () => {
  fixture = await openLockFixture()
  await fixture.addLeaving('web')
  fixture.operate()
  await fixture.seconds(5)
  await fixture.lock('web', lockText(fixture.clock, 120))
  await fixture.seconds(2)
  const foreign = fixture.drain('node-1')
  await fixture.seconds(110)
  expect(foreign.isOver()).toBe(false)
  expect(fixture.trace.text()).toContain('bob locked budget shop/web until 2026-01-01T00:02:15Z (rebalance)')
  await fixture.until('the drain is over', foreign.isOver, 60)
  await foreign.ended
  expect(fixture.podsOn('node-1')).toEqual([])
  expect(fixture.oracle.violations).toEqual([])
})

describe('webhook-down', () => {
  async function evicts(namespace: string): Promise<string> {
    const pod = fixture.podOf('web', namespace)
    return evictPod(fixture.api, { namespace, name: pod }, { dryRun: true }).then(
      () => 'granted',
      (error: Error) => error.message,
    )
  }

  it('with Ignore, where nothing is locked: evictions go on within their budgets; with Fail, where a lock is held: refused', async () => {
    fixture = await openLockFixture()
    await fixture.addLeaving('web')
    await fixture.addLeaving('web', { namespace: 'bank' })
    fixture.operate()
    await fixture.seconds(5)
    await fixture.lock('web', lockText(fixture.clock, 300))
    await fixture.seconds(5)
    expect((await fixture.api.get(namespaces, { name: 'shop' })).metadata.labels).toMatchObject({
      'cofferdam.io/locked': 'true',
    })
    fixture.guard.cut()
    expect([await evicts('bank'), await evicts('shop')]).toEqual([
      'granted',
      expect.stringContaining('failed calling webhook "locked.guard.cofferdam.io"'),
    ])
    fixture.guard.mend()
    expect([await evicts('bank'), await evicts('shop')]).toEqual([
      'granted',
      expect.stringContaining('bob locked budget shop/web'),
    ])
    await fixture.seconds(310)
    fixture.guard.cut()
    // The lock has ended, and nobody is kept by a guard that is not there.
    expect([await evicts('bank'), await evicts('shop')]).toEqual(['granted', 'granted'])
    expect(fixture.oracle.violations).toEqual([])
  })

  it('a reboot goes on without the guard, and what is reserved holds against a drain of another tool all the same', async () => {
    fixture = await openLockFixture()
    await fixture.addStaying('db')
    await fixture.addStaying('ledger', 'bank')
    fixture.operate()
    await fixture.seconds(5)
    fixture.guard.cut()
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.reach('reboot-1', 'Drained')
    await fixture.seconds(2)
    const answers = await Promise.all(
      [
        { namespace: 'shop', name: 'db-1' },
        { namespace: 'bank', name: 'ledger-1' },
      ].map((key) =>
        evictPod(fixture.api, key).then(
          () => 'granted',
          (error: Error) => error.message,
        ),
      ),
    )
    expect(answers.every((answer) => answer !== 'granted')).toBe(true)
    fixture.world.kubelet.reboot('node-1', 60)
    await fixture.reach('reboot-1', 'Completed')
    expect(fixture.oracle.violations).toEqual([])
  })
})
