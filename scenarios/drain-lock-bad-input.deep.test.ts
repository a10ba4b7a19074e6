import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { holdAnnotation } from '@cofferdam/product/capabilities/drain-lock/domain/budget-hold.ts'
import { breakGlassAnnotation } from '@cofferdam/product/shared/break-glass-annotation.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { budget } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

async function openWithApps(): Promise<readonly string[]> {
  fixture = await openLockFixture()
  await fixture.addStaying('db')
  await fixture.addLeaving('web')
  const before = fixture.budgets()
  fixture.operate()
  await fixture.seconds(5)
  return before
}

async function annotate(name: string, annotations: Record<string, string | null>): Promise<void> {
  await fixture.api.patch(
    podDisruptionBudgets,
    { namespace: 'shop', name },
    { type: 'merge', body: { metadata: { annotations } } },
  )
}

/** The other node must go as if nothing were wrong. */
async function nothingElseIsDisturbed(nodeName = 'node-2'): Promise<void> {
  fixture.rebootForSeconds(60)
  await fixture.request('sound', { nodeName })
  await fixture.reach('sound', 'Completed')
  await fixture.seconds(20)
  expect(fixture.oracle.violations).toEqual([])
}

describe('a lock of an owner that cannot be read', () => {
  const texts = {
    'is not JSON': 'until tomorrow',
    'has no end': JSON.stringify({ holder: 'bob', reason: 'rebalance' }),
    'has ended long ago': JSON.stringify({ until: '2020-01-01T00:00:00Z', holder: 'bob', reason: 'old' }),
  }

  it.each(Object.entries(texts))(
    'because it %s locks nothing, and the request says what is wrong with it',
    async (_, text) => {
      const before = await openWithApps()
      await fixture.lock('db', text)
      await fixture.request('reboot-1', { nodeName: 'node-1' })
      await fixture.reach('reboot-1', 'Drained', 60)
      expect(fixture.statusOf('reboot-1').warnings).toEqual([
        { object: 'pdb/shop/db', says: expect.stringMatching(/^annotation cofferdam.io\/lock of db .*does not lock/) },
      ])
      expect(await fixture.told('db')).toHaveLength(1)
      await nothingElseIsDisturbed()
      await fixture.reach('reboot-1', 'Completed')
      await fixture.lock('db', undefined)
      await fixture.seconds(20)
      expect([fixture.budgets(), fixture.heldKeys()]).toEqual([before, []])
    },
  )
})

it('break-glass that does not say by whom, why or until when breaks nothing, and the request says so', async () => {
  await openWithApps()
  await fixture.request('first', { nodeName: 'node-1' })
  await fixture.reach('first', 'Drained')
  await fixture.request('second', { nodeName: 'node-1' })
  const body = { metadata: { annotations: { [breakGlassAnnotation]: '{"by":"alice"}' } } }
  await fixture.api.patch(nodeDisruptions, { name: 'second' }, { type: 'merge', body })
  await fixture.seconds(30)
  expect(fixture.blockersOf('second')).toEqual(['node/node-1 HeldByRequest', 'pdb/shop/db HeldByRequest'])
  expect(fixture.statusOf('second').warnings).toEqual([
    { object: 'nodedisruption/second', says: expect.stringContaining('it breaks nothing') },
  ])
  expect(fixture.ledger().broken).toEqual([])
})

it('a request for a node that nobody knows is rejected with that reason, and others go on', async () => {
  const before = await openWithApps()
  await fixture.request('typo', { nodeName: 'nod-1' })
  await fixture.reach('typo', 'Rejected', 10)
  expect(fixture.statusOf('typo').conditions?.map(({ reason }) => reason)).toEqual(['NodeUnknown', 'NodeUnknown'])
  expect(await fixture.told('typo')).toEqual(['NodeUnknown'])
  await nothingElseIsDisturbed()
  expect([fixture.budgets(), fixture.heldKeys()]).toEqual([before, []])
})

it('budgets that overlap: the pod that would stay leaves and the one that must leave cannot; both are named, others go on', async () => {
  await openWithApps()
  for (const app of ['db', 'web']) {
    await fixture.api.create(podDisruptionBudgets, {
      ...budget(app, { maxUnavailable: 1 }),
      metadata: { name: `${app}-again`, namespace: 'shop' },
    })
  }
  await fixture.seconds(5)
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.seconds(30)
  const { warnings, blockedBy, phase } = fixture.statusOf('reboot-1')
  expect(phase).toBe('Draining')
  expect(warnings).toContainEqual({ object: 'pod/shop/db-0', says: expect.stringContaining('2 budgets cover it') })
  expect(blockedBy?.map(({ reason }) => reason)).toEqual(['BudgetOverlap', 'BudgetOverlap'])
  for (const app of ['db', 'web']) {
    await fixture.api.delete(podDisruptionBudgets, { namespace: 'shop', name: `${app}-again` })
  }
  await fixture.reach('reboot-1', 'Drained', 60)
  await nothingElseIsDisturbed('node-3')
})

describe('what was written by hand', () => {
  const edits: Record<string, (fixture: LockFixture) => Promise<unknown>> = {
    'a record that is said to be completed while its node is drained': () => editRecord({ phase: 'Completed' }),
    'a record from which everything was taken': () =>
      editRecord({ phase: 'Pending', bootIDBefore: null, cordonedBy: null, epoch: null, skippedPods: null }),
    'a record with an epoch that was never given': () => editRecord({ epoch: 900_000 }),
    'a mark on a budget that says nothing': () => annotate('db', { [holdAnnotation]: 'mine' }),
    'a mark on a budget that is gone': () => annotate('db', { [holdAnnotation]: null }),
  }

  const editRecord = (status: Record<string, unknown>) =>
    fixture.api.patch(
      nodeDisruptions,
      { name: 'reboot-1' },
      { type: 'merge', body: { status } as never },
      { subresource: 'status' },
    )

  it.each(Object.entries(edits))('%s leads to nothing but an orderly end', async (_, edit) => {
    const before = await openWithApps()
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.reach('reboot-1', 'Drained')
    await edit(fixture)
    await fixture.seconds(30)
    if (fixture.isCordoned('node-1')) fixture.world.kubelet.reboot('node-1', 60)
    await fixture.seconds(120)
    expect([fixture.phaseOf('reboot-1'), fixture.isCordoned('node-1')]).toEqual(['Completed', false])
    await nothingElseIsDisturbed()
    expect([fixture.budgets(), fixture.heldKeys()]).toEqual([before, []])
  })
})
