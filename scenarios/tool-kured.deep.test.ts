import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { KuredOptions } from '@cofferdam/simulator/world/tools/kured.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { explainText } from './testing/commands.ts'
import { installKured, type KuredCluster } from './testing/kured-cluster.ts'
import { type LockFixture, lockText, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
let kured: KuredCluster

afterEach(async () => {
  kured.stop()
  await fixture.close()
})

async function open({ isOptedIn = true, ...flags }: KuredOptions & { readonly isOptedIn?: boolean } = {}) {
  fixture = await openLockFixture({ nodeCount: 3 })
  const { api, clock, views, world } = fixture
  kured = await installKured({ api, clock, views, kubelet: world.kubelet }, flags)
  if (isOptedIn) await kured.optIn(true)
}

const minute = 60
const hour = 3_600
const names = ['node-1', 'node-2', 'node-3']
const isOn = (name: string) => fixture.world.kubelet.isOn(name)
const isHeldByUs = () => kured.holders().every((holder) => holder === 'cofferdam') && kured.holders().length > 0
const areAllBack = () => kured.rebooted.length === 3 && kured.standing().length === 0 && isHeldByUs()

/** How many machines were away at once, until all are back. */
async function mostAway(withinSeconds = 2 * hour): Promise<number> {
  let most = 0
  const isOver = () => {
    most = Math.max(most, names.filter((name) => !isOn(name)).length)
    return areAllBack()
  }
  await fixture.until('all nodes are rebooted and the lock is held again', isOver, withinSeconds)
  return most
}

function expectNothingLeft(): void {
  expect(names.filter((name) => fixture.isCordoned(name) || kured.isAnnotated(name))).toEqual([])
  expect([kured.traces(), fixture.heldKeys(), fixture.oracle.violations]).toEqual([[], [], []])
}

describe('kured whose lock Cofferdam holds', () => {
  it('reboots three nodes that ask at once one after the other, each when a request has drained it', async () => {
    await open()
    fixture.operate()
    await fixture.addLeaving('web', { replicas: 3 })
    for (const name of names) kured.requireReboot(name)
    expect(await mostAway()).toBe(1)
    expect(kured.requests().map(({ status }) => status?.phase)).toEqual(['Completed', 'Completed', 'Completed'])
    expect(await fixture.told('node-1')).toContain('KuredLockHanded')
    expectNothingLeft()
  })

  it('with two places reboots two at a time, and no place is ever free for kured to take by itself', async () => {
    await open({ concurrency: 2 })
    fixture.operate()
    await fixture.until('the places are held', isHeldByUs, 30)
    for (const name of names) kured.requireReboot(name)
    let fewest = Number.POSITIVE_INFINITY
    await fixture.until(
      'all nodes are back',
      () => {
        fewest = Math.min(fewest, kured.holders().length)
        return areAllBack()
      },
      2 * hour,
    )
    expect([fewest, new Set(kured.rebooted).size]).toEqual([2, 3])
    expectNothingLeft()
  })

  it("takes the pods of applications that stay one node at a time, since kured's own drain does not leave them", async () => {
    await open({ drainTimeoutMs: 120_000 })
    await fixture.addStaying('orders')
    fixture.operate()
    for (const name of names) kured.requireReboot(name)
    expect(await mostAway()).toBe(1)
    expectNothingLeft()
  })

  it.each([1, 3, 4, 6, 9, 14])(
    'survives an operator that dies %i writes into it: the next goes on from the lock and its requests',
    async (writes) => {
      await open()
      await fixture.addLeaving('web', { replicas: 3 })
      const first = fixture.operate({ isReplaced: true })
      await fixture.until('the lock is held', isHeldByUs, 30)
      for (const name of names) kured.requireReboot(name)
      await fixture.until('kured asks', () => names.some((name) => kured.isAnnotated(name)), 10 * minute)
      first.killAfter(writes)
      expect(await mostAway()).toBe(1)
      expectNothingLeft()
    },
  )

  it("waits for an owner's lock though kured would force the reboot, and another node goes first", async () => {
    await open({ forceReboot: true, drainTimeoutMs: 30_000 })
    await fixture.addLeaving('web', { replicas: 1, maxUnavailable: 0 })
    const busy = fixture.nodeOf(fixture.podOf('web'))
    await fixture.lock('web', lockText(fixture.clock, 40 * minute))
    fixture.operate()
    for (const name of names) kured.requireReboot(name)
    await fixture.seconds(35 * minute)
    expect([isOn(busy), kured.rebooted.includes(busy), kured.rebooted.length > 0]).toEqual([true, false, true])
    expect(fixture.oracle.violations).toEqual([])
  })

  it('gives a node back when its reboot is called off, before kured has begun', async () => {
    await open({ periodMs: 30 * minute * 1_000 })
    fixture.operate()
    kured.requireReboot('node-1')
    await fixture.until('node-1 has the lock', () => kured.holders().includes('node-1'), 2 * hour)
    expect(fixture.isCordoned('node-1')).toBe(true)
    const explained = await explainText(fixture.api, fixture.clock, 'node/node-1')
    expect(explained).toContain('by kured (daemonset/kube-system/kured), to reboot: Drained')
    const boot = kured.bootOf('node-1')
    kured.forgetReboot('node-1')
    await kured.unannotate('node-1')
    await fixture.until('the lock is taken back', isHeldByUs, 30)
    await fixture.until('the node is released', () => kured.requests().length === 0, 60)
    expect([fixture.isCordoned('node-1'), kured.bootOf('node-1'), kured.traces()]).toEqual([false, boot, []])
  })

  it('gives a node back that kured never reboots, says so, and lets the others go', async () => {
    await open({ periodMs: 5 * minute * 1_000 })
    fixture.operate()
    kured.requireReboot('node-1')
    await fixture.until('kured asks', () => kured.isAnnotated('node-1'), hour)
    // As after a reboot by hand: kured takes its annotation away only for a reboot of its own.
    kured.forgetReboot('node-1')
    kured.requireReboot('node-2')
    await fixture.until('node-2 is rebooted', () => kured.rebooted.includes('node-2'), 2 * hour)
    expect(await fixture.told('node-1')).toContain('KuredDoesNotReboot')
    expect([fixture.isCordoned('node-1'), kured.rebooted]).toEqual([false, ['node-2']])
  })

  it('begins again when the pod of kured is replaced before the reboot, which uncordons the node', async () => {
    await open({ periodMs: 5 * minute * 1_000 })
    fixture.operate()
    kured.requireReboot('node-1')
    await fixture.until('node-1 has the lock', () => kured.holders().includes('node-1'), 2 * hour)
    kured.restartPod('node-1')
    await fixture.until('kured gives the node back', () => kured.standing().length === 0, 5 * minute)
    await fixture.until('node-1 is rebooted all the same', () => kured.rebooted.includes('node-1'), hour)
    await fixture.until('all is over', () => kured.standing().length === 0 && isHeldByUs(), 10 * minute)
    expectNothingLeft()
  })

  it('is on its own again when it opts out, and ten minutes after the operator has gone', async () => {
    await open()
    const operator = fixture.operate()
    await fixture.until('the lock is held', isHeldByUs, 30)
    await kured.optIn(false)
    await fixture.until('the lock is free', () => kured.lockText() === undefined, 30)
    await kured.optIn(true)
    await fixture.until('the lock is held again', isHeldByUs, 30)
    operator.kill()
    kured.requireReboot('node-1')
    await fixture.seconds(9 * minute)
    expect(kured.rebooted).toEqual([])
    await fixture.until('node-1 is rebooted', () => kured.rebooted.includes('node-1'), 10 * minute)
  })

  it('with a lock that cannot be read: it stays as it is, and the DaemonSet says why', async () => {
    await open()
    fixture.operate()
    await fixture.until('the lock is held', isHeldByUs, 30)
    await kured.setLock('{"nodeID": 7')
    await fixture.seconds(6 * minute)
    expect([kured.lockText(), kured.standing()]).toEqual(['{"nodeID": 7', []])
    expect(await fixture.told('kured')).toContain('KuredLockUnreadable')
    await kured.setLock('{"nodeID":"node-9","created":"2020-01-01T00:00:00Z","TTL":1000000000}')
    await fixture.until('a lock that has lapsed is taken', isHeldByUs, 30)
  })
})

describe('kured on its own', () => {
  it('drains beside Cofferdam: what is held is refused, and kured waits', async () => {
    await open({ isOptedIn: false })
    await fixture.addStaying('orders')
    fixture.operate()
    await fixture.request('mine', { nodeName: 'node-1' })
    await fixture.reach('mine', 'Drained')
    kured.requireReboot('node-2')
    await fixture.seconds(10 * minute)
    expect([kured.rebooted, kured.holders(), fixture.isCordoned('node-2')]).toEqual([[], ['node-2'], true])
    fixture.world.kubelet.reboot('node-1', 60)
    await fixture.until('node-2 follows', () => kured.rebooted.includes('node-2'), 20 * minute)
    // No pod was lost, and no request held the node while it was away.
    expect(fixture.oracle.violations).toEqual(['node-2 was off, and nobody held it'])
  })

  it('with --force-reboot and --drain-timeout takes a node down with a pod that its owner has locked', async () => {
    await open({ isOptedIn: false, forceReboot: true, drainTimeoutMs: 30_000, downSeconds: 120 })
    await fixture.addLeaving('web', { replicas: 1, maxUnavailable: 0 })
    const busy = fixture.nodeOf(fixture.podOf('web'))
    await fixture.lock('web', lockText(fixture.clock, 40 * minute))
    fixture.operate()
    kured.requireReboot(busy)
    await fixture.until('the node is rebooted', () => kured.rebooted.includes(busy), 20 * minute)
    await fixture.seconds(30)
    expect(fixture.oracle.violations.join()).toContain('web')
    expect((await fixture.api.list(nodeDisruptions)).items).toEqual([])
    await fixture.until(
      'Cofferdam says so',
      async () => (await fixture.told(busy)).includes('KuredRebootsUndrained'),
      60,
    )
  })
})
