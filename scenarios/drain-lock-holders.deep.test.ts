import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { type LockFixture, lockText, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

const allOpen = () => ['node-1', 'node-2', 'node-3'].filter(fixture.isCordoned)

it('holder-dies: the operator is killed for good while a node is away; another instance carries on under a new epoch', async () => {
  fixture = await openLockFixture()
  fixture.trace.chapter('The cluster comes up, with two instances of the operator')
  await fixture.addStaying('db')
  await fixture.addLeaving('web')
  const before = fixture.budgets()
  const first = fixture.operate({ identity: 'first' })
  await fixture.seconds(5)
  fixture.operate({ identity: 'second' })
  fixture.rebootForSeconds(90)

  fixture.trace.chapter('node-1 is to be rebooted, and the operator dies while it is away')
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.until('the machine is off', () => !fixture.world.kubelet.isOn('node-1'))
  first.kill()
  await fixture.until('the other one holds the keys', () =>
    fixture.ledger().entries.every(({ holder, epoch }) => holder.startsWith('second') && epoch === 2),
  )
  await fixture.request('reboot-2', { nodeName: 'node-2' })
  await fixture.reach('reboot-1', 'Completed')
  await fixture.reach('reboot-2', 'Completed')
  await fixture.seconds(20)
  expect([fixture.budgets(), fixture.heldKeys(), allOpen()]).toEqual([before, [], []])
  expect(fixture.oracle.violations).toEqual([])
  await expect(fixture.trace.text()).toMatchFileSnapshot('./drain-lock-holder-dies.golden.txt')
})

it('node-never-returns: others wait for as long as it takes and say for whom, until its Node object is deleted', async () => {
  fixture = await openLockFixture({ nodeCount: 4 })
  fixture.trace.chapter('The cluster comes up')
  await fixture.addStaying('db')
  fixture.operate()
  await fixture.seconds(5)
  fixture.trace.chapter('node-1 is rebooted and does not come back')
  const wayOut = expect.stringContaining('delete its Node object')
  const away = { object: 'node/node-1', reason: 'NodeAway', wayOut }
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  fixture.world.kubelet.powerOff('node-1')
  await fixture.seconds(10)
  await fixture.request('reboot-2', { nodeName: 'node-2', fallbackAfter: '24h' })
  await fixture.seconds(900)
  expect([fixture.phaseOf('reboot-1'), fixture.phaseOf('reboot-2')]).toEqual(['Drained', 'Waiting'])
  expect(fixture.statusOf('reboot-1').blockedBy).toMatchObject([away])
  const held = { object: 'pdb/shop/db', reason: 'HeldByRequest', holder: expect.stringContaining('reboot-1') }
  expect(fixture.statusOf('reboot-2').blockedBy).toContainEqual(expect.objectContaining(held))

  // The pod that stayed has been patient for twenty minutes, and cannot leave a machine that is off.
  await fixture.seconds(900)
  expect(fixture.statusOf('reboot-1').blockedBy).toMatchObject([
    away,
    { object: 'pod/shop/db-0', reason: 'PodIsLeaving' },
  ])
  expect(fixture.statusOf('reboot-2').blockedBy).toContainEqual(expect.objectContaining(held))

  fixture.trace.chapter('Its Node object is deleted')
  await fixture.api.delete(nodes, { name: 'node-1' })
  await fixture.reach('reboot-1', 'Completed')
  // The pod that stayed went with its node, and comes up on node-4.
  fixture.rebootForSeconds(60)
  await fixture.reach('reboot-2', 'Completed')
  await fixture.seconds(20)
  expect([fixture.heldKeys(), allOpen()]).toEqual([[], []])
  expect(fixture.oracle.violations).toEqual([])
  await expect(fixture.trace.text()).toMatchFileSnapshot('./drain-lock-node-never-returns.golden.txt')
})

it('node-never-returns: the request that took it is gone with its finalizer; the keys stay Orphaned until the node is back', async () => {
  fixture = await openLockFixture()
  await fixture.addStaying('db')
  const before = fixture.budgets()
  const first = fixture.operate()
  await fixture.seconds(5)
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  fixture.world.kubelet.powerOff('node-1')
  await fixture.seconds(60)
  first.kill()
  await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
  const body = { metadata: { finalizers: null } }
  await fixture.api.patch(nodeDisruptions, { name: 'reboot-1' }, { type: 'merge', body })
  fixture.operate()
  await fixture.request('reboot-2', { nodeName: 'node-2', fallbackAfter: '24h' })
  await fixture.seconds(600)
  expect(fixture.heldKeys()).toEqual(['node/node-1 Orphaned', 'pdb/shop/db Orphaned'])
  expect(fixture.statusOf('reboot-2').blockedBy).toContainEqual(
    expect.objectContaining({ object: 'pdb/shop/db', wayOut: expect.stringContaining('Its holder is gone') }),
  )
  expect(await fixture.told('cluster')).toEqual(['HolderGone', 'OrphanHeld'])

  fixture.world.kubelet.powerOn('node-1')
  fixture.rebootForSeconds(60)
  await fixture.reach('reboot-2', 'Completed')
  await fixture.seconds(20)
  expect([fixture.budgets(), fixture.heldKeys(), allOpen()]).toEqual([before, [], []])
  expect(fixture.oracle.violations).toEqual([])
})

it('break-glass: the key of a forgotten drain is taken on somebody’s word, until a time, and all of it is written down', async () => {
  fixture = await openLockFixture()
  fixture.trace.chapter('The cluster comes up')
  await fixture.addLeaving('web')
  fixture.operate()
  await fixture.seconds(5)
  fixture.trace.chapter('node-1 is drained, and nobody knows for whom')
  await fixture.request('forgotten', { nodeName: 'node-1' })
  await fixture.reach('forgotten', 'Drained')
  await fixture.request('urgent', { nodeName: 'node-1' })
  await fixture.seconds(120)
  expect(fixture.blockersOf('urgent')).toEqual(['node/node-1 HeldByRequest'])

  fixture.trace.chapter('Alice breaks the glass, for ten minutes')
  const glass = { by: 'alice', reason: 'the rack burns', untilMs: fixture.clock.now() + 600_000 }
  await fixture.breakGlass('urgent', glass)
  await fixture.reach('urgent', 'Drained')
  expect(fixture.ledger().broken).toMatchObject([
    { key: 'node/node-1', by: 'alice', reason: 'the rack burns', formerHolder: expect.stringContaining('forgotten') },
  ])
  expect(await fixture.told('node-1')).toContain('BreakGlass')
  await fixture.seconds(30)
  // Whoever was at it begins anew, after whoever broke its key.
  expect(fixture.blockersOf('forgotten')).toEqual(['node/node-1 HeldByRequest'])
  await fixture.api.delete(nodeDisruptions, { name: 'forgotten' })
  await fixture.seconds(10)
  expect(fixture.isCordoned('node-1')).toBe(true)

  fixture.trace.chapter('The machine is rebooted')
  fixture.world.kubelet.reboot('node-1', 60)
  await fixture.reach('urgent', 'Completed')
  await fixture.seconds(30)
  expect(fixture.heldKeys()).toEqual([])
  expect(allOpen()).toEqual([])
  expect(fixture.oracle.violations).toEqual([])
  await expect(fixture.trace.text()).toMatchFileSnapshot('./drain-lock-break-glass.golden.txt')
})

it('break-glass that has expired breaks nothing, and the record says so', async () => {
  fixture = await openLockFixture()
  await fixture.addLeaving('web')
  fixture.operate()
  await fixture.seconds(5)
  await fixture.lock('web', lockText(fixture.clock, 3_600))
  await fixture.request('urgent', { nodeName: 'node-1' })
  await fixture.seconds(30)
  await fixture.breakGlass('urgent', { by: 'alice', reason: 'too late', untilMs: fixture.clock.now() - 1_000 })
  await fixture.seconds(60)
  expect(fixture.blockersOf('urgent')).toEqual(['pdb/shop/web AppLocked'])
  expect(fixture.statusOf('urgent').warnings).toMatchObject([
    { object: 'nodedisruption/urgent', says: expect.stringContaining('is ignored') },
  ])
  expect(fixture.ledger().broken).toEqual([])

  await fixture.breakGlass('urgent', { by: 'alice', reason: 'now', untilMs: fixture.clock.now() + 600_000 })
  await fixture.reach('urgent', 'Drained')
  expect(fixture.oracle.violations).toEqual([])
})

it('fallback-to-normal-drain: locks that cannot be had in time are given up, and the pod that wanted to stay is evicted within its budget', async () => {
  fixture = await openLockFixture({ nodeCount: 5 })
  fixture.trace.chapter('The cluster comes up')
  await fixture.addStaying('db')
  fixture.operate()
  await fixture.seconds(5)
  fixture.trace.chapter(
    'A pod of db fails, which takes the one disruption that its budget allows; a request waits two minutes at most',
  )
  const second = fixture.nodeOf('db-1')
  const failing = { namespace: 'shop', name: 'db-0' }
  fixture.world.kubelet.setPodReady(failing, false)
  await fixture.seconds(5)
  await fixture.request('patient', { nodeName: second, fallbackAfter: '2m' })
  await fixture.seconds(100)
  expect(fixture.statusOf('patient').hasFallenBack).toBeUndefined()
  await fixture.seconds(50)
  expect(fixture.statusOf('patient').hasFallenBack).toBe(true)
  fixture.world.kubelet.setPodReady(failing, true)
  await fixture.reach('patient', 'Drained')
  expect(fixture.podsOn(second)).toEqual([])
  fixture.world.kubelet.reboot(second, 60)
  await fixture.reach('patient', 'Completed')
  await fixture.seconds(20)
  expect(fixture.heldKeys()).toEqual([])
  expect(fixture.oracle.violations).toEqual([])
  await expect(fixture.trace.text()).toMatchFileSnapshot('./drain-lock-fallback-to-normal-drain.golden.txt')
})
