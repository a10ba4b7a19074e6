import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { jobs } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import { examplePlan, openUpgrade, rebootOnce, replaceBinary, type UpgradeStage } from './testing/system-upgrade.ts'

let stage: UpgradeStage
afterEach(() => stage.close())

it('the operator dies in the middle, and an upgrade fails once: its next pod joins the request that stands', async () => {
  let attempts = 0
  stage = await openUpgrade(examplePlan({ concurrency: 1 }), async (run, on) => {
    attempts += 1
    return attempts === 1 ? 1 : replaceBinary(20)(run, on)
  })
  const isAny = (phase: string) => stage.requests().some(({ status }) => status?.phase === phase)
  await stage.until('a node is being drained', () => isAny('Draining'), 60)
  stage.operator.kill()
  await stage.until('the second attempt runs', () => attempts === 2, 120)
  expect(stage.requests()).toHaveLength(1)
  await stage.until('the Plan is complete', stage.isComplete, 600)
  expect([stage.upgraded(), stage.requests().length]).toEqual([3, 3])
  const failed = [...stage.views.of(jobs).values()].filter((job) => conditionOf(job, 'Failed')?.status === 'True')
  expect(failed).toEqual([])
  expect(stage.oracle.violations).toEqual([])
})

it('an upgrade that reboots its node has it drained, and the pod that comes after the reboot finds it done', async () => {
  stage = await openUpgrade(examplePlan(), rebootOnce(new Set()))
  await stage.until('the Plan is complete', stage.isComplete, 900)
  expect(stage.upgraded()).toBe(3)
  expect(stage.oracle.violations).toEqual([])
})

it('a Job that its deadline ends while it waits is made anew later, and joins its own request', async () => {
  stage = await openUpgrade(examplePlan({ concurrency: 1, jobActiveDeadlineSecs: 600 }), replaceBinary(20))
  await stage.lock('web', JSON.stringify({ until: '2026-01-01T00:20:00Z', holder: 'bob', reason: 'rebalance' }))
  await stage.until('its Job has failed', () => stage.podsOfUpgrade().length === 0, 900)
  await stage.until('the Plan is complete', stage.isComplete, 3600)
  expect([stage.upgraded(), stage.requests().length]).toEqual([3, 3])
  expect(stage.oracle.violations).toEqual([])
})
