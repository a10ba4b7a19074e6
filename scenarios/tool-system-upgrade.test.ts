import { afterEach, expect, it } from 'vitest'
import { examplePlan, openUpgrade, rebootOnce, replaceBinary, type UpgradeStage } from './testing/system-upgrade.ts'

let stage: UpgradeStage
afterEach(() => stage.close())

it('the Plan of the examples upgrades all nodes, one drained node at a time, and every request ends when the node is given back', async () => {
  stage = await openUpgrade(examplePlan(), replaceBinary(30))
  const { requests, podsOfUpgrade } = stage
  const phases = () => requests().map(({ spec, status }) => `${spec.requester} ${status?.phase}`)
  await stage.until('two Jobs have their pods', () => podsOfUpgrade().length === 2, 30)
  await stage.until('one node is drained', () => phases().some((phase) => phase.endsWith('Drained')), 60)
  // The pod that asks stays, and so does the one that waits in the queue.
  expect(podsOfUpgrade().filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([])
  expect(phases().sort()).toEqual(['system-upgrade Drained', 'system-upgrade Waiting'])

  await stage.until('the Plan is complete', stage.isComplete, 600)
  await stage.until('all are over', () => requests().every(({ status }) => status?.phase === 'Completed'), 60)
  expect([stage.upgraded(), requests().length, stage.heldKeys()]).toEqual([3, 3, []])
  expect(['node-1', 'node-2', 'node-3'].map(stage.isCordoned)).toEqual([false, false, false])
  expect(stage.oracle.violations).toEqual([])
})

it('control: without prepare two nodes go down at once, and the application loses more than its budget allows', async () => {
  const begun = new Set<string>()
  const { prepare: _, ...spec } = examplePlan().spec
  stage = await openUpgrade({ ...examplePlan(), spec }, rebootOnce(begun))
  await stage.until('two nodes are down', () => begun.size === 2, 60)
  await stage.seconds(60)
  expect(stage.requests()).toEqual([])
  expect(stage.oracle.violations).not.toEqual([])
})
