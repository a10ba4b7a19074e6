import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LockStage, openLockStage } from './testing/lock-stage.ts'
import { type LockStory, lockStories } from './testing/lock-stories.ts'

let stage: LockStage
afterEach(() => stage.close())

describe.each(Object.entries<LockStory>(lockStories))('%s', (name, { title, seed, act }) => {
  it(title, async () => {
    stage = await openLockStage()
    stage.trace.chapter('The cluster comes up')
    await seed(stage)
    const before = stage.budgets().map(withoutOwnersLock)
    stage.operate()
    stage.rebootForSeconds(60)
    await stage.seconds(5)
    await act(stage)

    expect(stage.budgets()).toEqual(before)
    expect(stage.ledger()).toMatchObject({ entries: [], tickets: [] })
    expect(['node-1', 'node-2', 'node-3'].filter(stage.isCordoned)).toEqual([])
    expect(stage.oracle.violations).toEqual([])
    await expect(stage.trace.text()).toMatchFileSnapshot(`./drain-lock-${name}.golden.txt`)
  })
})

it('the oracle sees a machine that goes with nobody holding it, and an application that is left with too little', async () => {
  stage = await openLockStage()
  await stage.addStaying('db')
  stage.operate()
  await stage.seconds(5)
  stage.world.kubelet.powerOff('node-1')
  await stage.seconds(1)
  stage.world.kubelet.powerOff('node-2')
  await stage.seconds(1)
  expect(stage.oracle.violations).toEqual([
    'node-1 was off, and nobody held it',
    'shop/db had 1 pods that run, and needs 2',
    'node-2 was off, and nobody held it',
  ])
})

it('the oracle sees a record that lets a node go with nothing held, and a budget that does not know of it', async () => {
  stage = await openLockStage()
  await stage.addStaying('db')
  const operator = stage.operate()
  await stage.seconds(5)
  await stage.request('reboot-1', { nodeName: 'node-1' })
  await stage.reach('reboot-1', 'Drained')
  operator.kill()
  const body = { status: { disruptedPods: null } }
  const db = { namespace: 'shop', name: 'db' }
  await stage.api.patch(podDisruptionBudgets, db, { type: 'merge', body }, { subresource: 'status' })
  await stage.api.delete(disruptionLedgers, { name: ledgerName })
  await stage.seconds(1)
  expect(stage.oracle.violations).toEqual([
    'reboot-1 said that node-1 may go, and did not hold it',
    'db did not count db-0 as gone, whose node may go',
  ])
})

function withoutOwnersLock(text: string): string {
  return text.replace(', cofferdam.io/lock', '')
}
