import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { type LockStage, lockText, openLockStage } from './testing/lock-stage.ts'

let stage: LockStage
afterEach(() => stage.close())

const allOpen = () => ['node-1', 'node-2', 'node-3'].filter(stage.isCordoned)

it('holder-dies: the operator is killed for good while a node is away; another instance carries on under a new epoch', async () => {
  stage = await openLockStage()
  stage.trace.chapter('The cluster comes up, with two instances of the operator')
  await stage.addStaying('db')
  await stage.addLeaving('web')
  const before = stage.budgets()
  const first = stage.operate({ identity: 'first' })
  await stage.seconds(5)
  stage.operate({ identity: 'second' })
  stage.rebootForSeconds(90)

  stage.trace.chapter('node-1 is to be rebooted, and the operator dies while it is away')
  await stage.request('reboot-1', { nodeName: 'node-1' })
  await stage.until('the machine is off', () => !stage.world.kubelet.isOn('node-1'))
  first.kill()
  await stage.until('the other one holds the keys', () =>
    stage.ledger().entries.every(({ holder, epoch }) => holder.startsWith('second') && epoch === 2),
  )
  await stage.request('reboot-2', { nodeName: 'node-2' })
  await stage.reach('reboot-1', 'Completed')
  await stage.reach('reboot-2', 'Completed')
  await stage.seconds(20)
  expect([stage.budgets(), stage.heldKeys(), allOpen()]).toEqual([before, [], []])
  expect(stage.oracle.violations).toEqual([])
  await expect(stage.trace.text()).toMatchFileSnapshot('./drain-lock-holder-dies.golden.txt')
})

it('node-never-returns: others wait for as long as it takes and say for whom, until its Node object is deleted', async () => {
  stage = await openLockStage({ nodeCount: 4 })
  stage.trace.chapter('The cluster comes up')
  await stage.addStaying('db')
  stage.operate()
  await stage.seconds(5)
  stage.trace.chapter('node-1 is rebooted and does not come back')
  const wayOut = expect.stringContaining('delete its Node object')
  const away = { object: 'node/node-1', reason: 'NodeAway', wayOut }
  await stage.request('reboot-1', { nodeName: 'node-1' })
  await stage.reach('reboot-1', 'Drained')
  stage.world.kubelet.powerOff('node-1')
  await stage.seconds(10)
  await stage.request('reboot-2', { nodeName: 'node-2', fallbackAfter: '24h' })
  await stage.seconds(900)
  expect([stage.phaseOf('reboot-1'), stage.phaseOf('reboot-2')]).toEqual(['Drained', 'Waiting'])
  expect(stage.statusOf('reboot-1').blockedBy).toMatchObject([away])
  const held = { object: 'pdb/shop/db', reason: 'HeldByRequest', holder: expect.stringContaining('reboot-1') }
  expect(stage.statusOf('reboot-2').blockedBy).toContainEqual(expect.objectContaining(held))

  // The pod that stayed has been patient for twenty minutes, and cannot leave a machine that is off.
  await stage.seconds(900)
  expect(stage.statusOf('reboot-1').blockedBy).toMatchObject([
    away,
    { object: 'pod/shop/db-0', reason: 'PodIsLeaving' },
  ])
  expect(stage.statusOf('reboot-2').blockedBy).toContainEqual(expect.objectContaining(held))

  stage.trace.chapter('Its Node object is deleted')
  await stage.api.delete(nodes, { name: 'node-1' })
  await stage.reach('reboot-1', 'Completed')
  // The pod that stayed went with its node, and comes up on node-4.
  stage.rebootForSeconds(60)
  await stage.reach('reboot-2', 'Completed')
  await stage.seconds(20)
  expect([stage.heldKeys(), allOpen()]).toEqual([[], []])
  expect(stage.oracle.violations).toEqual([])
  await expect(stage.trace.text()).toMatchFileSnapshot('./drain-lock-node-never-returns.golden.txt')
})

it('node-never-returns: the request that took it is gone with its finalizer; the keys stay Orphaned until the node is back', async () => {
  stage = await openLockStage()
  await stage.addStaying('db')
  const before = stage.budgets()
  const first = stage.operate()
  await stage.seconds(5)
  await stage.request('reboot-1', { nodeName: 'node-1' })
  await stage.reach('reboot-1', 'Drained')
  stage.world.kubelet.powerOff('node-1')
  await stage.seconds(60)
  first.kill()
  await stage.api.delete(nodeDisruptions, { name: 'reboot-1' })
  const body = { metadata: { finalizers: null } }
  await stage.api.patch(nodeDisruptions, { name: 'reboot-1' }, { type: 'merge', body })
  stage.operate()
  await stage.request('reboot-2', { nodeName: 'node-2', fallbackAfter: '24h' })
  await stage.seconds(600)
  expect(stage.heldKeys()).toEqual(['node/node-1 Orphaned', 'pdb/shop/db Orphaned'])
  expect(stage.statusOf('reboot-2').blockedBy).toContainEqual(
    expect.objectContaining({ object: 'pdb/shop/db', wayOut: expect.stringContaining('Its holder is gone') }),
  )
  expect(await stage.told('cluster')).toEqual(['HolderGone', 'OrphanHeld'])

  stage.world.kubelet.powerOn('node-1')
  stage.rebootForSeconds(60)
  await stage.reach('reboot-2', 'Completed')
  await stage.seconds(20)
  expect([stage.budgets(), stage.heldKeys(), allOpen()]).toEqual([before, [], []])
  expect(stage.oracle.violations).toEqual([])
})

it('break-glass: the key of a forgotten drain is taken on somebody’s word, until a time, and all of it is written down', async () => {
  stage = await openLockStage()
  stage.trace.chapter('The cluster comes up')
  await stage.addLeaving('web')
  stage.operate()
  await stage.seconds(5)
  stage.trace.chapter('node-1 is drained, and nobody knows for whom')
  await stage.request('forgotten', { nodeName: 'node-1' })
  await stage.reach('forgotten', 'Drained')
  await stage.request('urgent', { nodeName: 'node-1' })
  await stage.seconds(120)
  expect(stage.blockersOf('urgent')).toEqual(['node/node-1 HeldByRequest'])

  stage.trace.chapter('Alice breaks the glass, for ten minutes')
  const glass = { by: 'alice', reason: 'the rack burns', untilMs: stage.clock.now() + 600_000 }
  await stage.breakGlass('urgent', glass)
  await stage.reach('urgent', 'Drained')
  expect(stage.ledger().broken).toMatchObject([
    { key: 'node/node-1', by: 'alice', reason: 'the rack burns', formerHolder: expect.stringContaining('forgotten') },
  ])
  expect(await stage.told('urgent')).toContain('BreakGlass')
  expect(await stage.told('node-1')).toContain('BreakGlass')
  await stage.seconds(30)
  // Whoever was at it begins anew, after whoever broke its key.
  expect(stage.blockersOf('forgotten')).toEqual(['node/node-1 HeldByRequest'])
  await stage.api.delete(nodeDisruptions, { name: 'forgotten' })
  await stage.seconds(10)
  expect(stage.isCordoned('node-1')).toBe(true)

  stage.trace.chapter('The machine is rebooted')
  stage.world.kubelet.reboot('node-1', 60)
  await stage.reach('urgent', 'Completed')
  await stage.seconds(30)
  expect(stage.heldKeys()).toEqual([])
  expect(allOpen()).toEqual([])
  expect(stage.oracle.violations).toEqual([])
  await expect(stage.trace.text()).toMatchFileSnapshot('./drain-lock-break-glass.golden.txt')
})

it('break-glass that has expired breaks nothing, and the record says so', async () => {
  stage = await openLockStage()
  await stage.addLeaving('web')
  stage.operate()
  await stage.seconds(5)
  await stage.lock('web', lockText(stage.clock, 3_600))
  await stage.request('urgent', { nodeName: 'node-1' })
  await stage.seconds(30)
  await stage.breakGlass('urgent', { by: 'alice', reason: 'too late', untilMs: stage.clock.now() - 1_000 })
  await stage.seconds(60)
  expect(stage.blockersOf('urgent')).toEqual(['pdb/shop/web AppLocked'])
  expect(stage.statusOf('urgent').warnings).toMatchObject([
    { object: 'nodedisruption/urgent', says: expect.stringContaining('is ignored') },
  ])
  expect(stage.ledger().broken).toEqual([])

  await stage.breakGlass('urgent', { by: 'alice', reason: 'now', untilMs: stage.clock.now() + 600_000 })
  await stage.reach('urgent', 'Drained')
  expect(stage.oracle.violations).toEqual([])
})

it('fallback-to-normal-drain: locks that cannot be had in time are given up, and the pod that wanted to stay is evicted within its budget', async () => {
  stage = await openLockStage({ nodeCount: 5 })
  stage.trace.chapter('The cluster comes up')
  await stage.addStaying('db')
  stage.operate()
  await stage.seconds(5)
  stage.trace.chapter('Two nodes need the budget of db; the second waits two minutes at most')
  const [first, second] = [stage.nodeOf('db-0'), stage.nodeOf('db-1')]
  await stage.request('slow', { nodeName: first })
  await stage.reach('slow', 'Drained')
  await stage.request('patient', { nodeName: second, fallbackAfter: '2m' })
  await stage.seconds(150)
  expect(stage.statusOf('patient').hasFallenBack).toBe(true)
  stage.world.kubelet.reboot(first, 60)
  await stage.reach('slow', 'Completed')
  await stage.reach('patient', 'Drained')
  expect(stage.podsOn(second)).toEqual([])
  stage.world.kubelet.reboot(second, 60)
  await stage.reach('patient', 'Completed')
  await stage.seconds(20)
  expect(stage.heldKeys()).toEqual([])
  expect(stage.oracle.violations).toEqual([])
  await expect(stage.trace.text()).toMatchFileSnapshot('./drain-lock-fallback-to-normal-drain.golden.txt')
})
