import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LockStage, lockText, openLockStage } from './testing/lock-stage.ts'

let stage: LockStage
afterEach(() => stage.close())

it('a drain of another tool waits at a budget that is held for a reboot, and completes when the node is back', async () => {
  stage = await openLockStage()
  stage.trace.chapter('The cluster comes up')
  await stage.addStaying('db')
  await stage.addLeaving('web')
  stage.operate()
  await stage.seconds(5)
  stage.trace.chapter('node-1 is to be rebooted around db-0, while somebody drains node-2, where db-1 is')
  await stage.request('reboot-1', { nodeName: 'node-1' })
  await stage.reach('reboot-1', 'Drained')
  const foreign = stage.drain('node-2')
  await stage.seconds(30)
  expect(foreign.isOver()).toBe(false)
  expect(stage.podsOn('node-2')).toContain('db-1')
  stage.world.kubelet.reboot('node-1', 60)
  await stage.reach('reboot-1', 'Completed')
  await stage.until('the other drain is over', foreign.isOver)
  await foreign.ended
  expect(stage.oracle.violations).toEqual([])
  // Which operator it was is drawn by chance.
  const told = stage.trace.text().replaceAll(/operator-[a-z0-9]{8}/g, 'the operator')
  await expect(told).toMatchFileSnapshot('./drain-lock-foreign-drain.golden.txt')
})

it('a drain of another tool waits at an owner’s lock with the owner’s words, and completes when it has expired', async () => {
  stage = await openLockStage()
  await stage.addLeaving('web')
  stage.operate()
  await stage.seconds(5)
  await stage.lock('web', lockText(stage.clock, 120))
  await stage.seconds(2)
  const foreign = stage.drain('node-1')
  await stage.seconds(110)
  expect(foreign.isOver()).toBe(false)
  expect(stage.trace.text()).toContain('bob locked budget shop/web until 2026-01-01T00:02:15Z (rebalance)')
  await stage.until('the drain is over', foreign.isOver, 60)
  await foreign.ended
  expect(stage.podsOn('node-1')).toEqual([])
  expect(stage.oracle.violations).toEqual([])
})

describe('webhook-down', () => {
  async function evicts(namespace: string): Promise<string> {
    const pod = stage.podOf('web', namespace)
    return evictPod(stage.api, { namespace, name: pod }, { dryRun: true }).then(
      () => 'granted',
      (error: Error) => error.message,
    )
  }

  it('with Ignore, where nothing is locked: evictions go on within their budgets; with Fail, where a lock is held: refused', async () => {
    stage = await openLockStage()
    await stage.addLeaving('web')
    await stage.addLeaving('web', { namespace: 'bank' })
    stage.operate()
    await stage.seconds(5)
    await stage.lock('web', lockText(stage.clock, 300))
    await stage.seconds(5)
    expect((await stage.api.get(namespaces, { name: 'shop' })).metadata.labels).toMatchObject({
      'cofferdam.io/locked': 'true',
    })
    stage.guard.cut()
    expect([await evicts('bank'), await evicts('shop')]).toEqual([
      'granted',
      expect.stringContaining('failed calling webhook "locked.guard.cofferdam.io"'),
    ])
    stage.guard.mend()
    expect([await evicts('bank'), await evicts('shop')]).toEqual([
      'granted',
      expect.stringContaining('bob locked budget shop/web'),
    ])
    await stage.seconds(310)
    stage.guard.cut()
    // The lock has ended, and nobody is kept by a guard that is not there.
    expect([await evicts('bank'), await evicts('shop')]).toEqual(['granted', 'granted'])
    expect(stage.oracle.violations).toEqual([])
  })

  it('a reboot goes on without the guard, and what is reserved holds against a drain of another tool all the same', async () => {
    stage = await openLockStage()
    await stage.addStaying('db')
    await stage.addStaying('ledger', 'bank')
    stage.operate()
    await stage.seconds(5)
    stage.guard.cut()
    await stage.request('reboot-1', { nodeName: 'node-1' })
    await stage.reach('reboot-1', 'Drained')
    await stage.seconds(2)
    const answers = await Promise.all(
      [
        { namespace: 'shop', name: 'db-1' },
        { namespace: 'bank', name: 'ledger-1' },
      ].map((key) =>
        evictPod(stage.api, key).then(
          () => 'granted',
          (error: Error) => error.message,
        ),
      ),
    )
    expect(answers.every((answer) => answer !== 'granted')).toBe(true)
    stage.world.kubelet.reboot('node-1', 60)
    await stage.reach('reboot-1', 'Completed')
    expect(stage.oracle.violations).toEqual([])
  })
})
