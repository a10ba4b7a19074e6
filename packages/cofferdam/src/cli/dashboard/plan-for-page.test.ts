import { podDisruptionBudgets, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { budget, openWorld, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { installOperator } from '../demo/install-operator.ts'
import { createPlanDrainCommand } from '../plan/plan-drain.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createPlanForPage } from './plan-for-page.ts'

const { signal } = new AbortController()

let scenario: Awaited<ReturnType<typeof openWorld>>
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 4 })
  await installOperator(scenario.server)
  for (const [name, maxUnavailable] of [
    ['orders', 1],
    ['stuck', 0],
  ] as const) {
    await scenario.api.create(statefulSets, statefulSet(name, { replicas: 2 }))
    await scenario.api.create(podDisruptionBudgets, budget(name, { maxUnavailable }))
  }
  await scenario.seconds(60)
})
afterEach(() => scenario.stop())

it('the page has the plan of cofferdam plan drain --all, with the same nodes that never go', async () => {
  const { api, clock } = scenario
  const { out } = await runCommand(
    createPlanDrainCommand({ connect: inProcess(api).connect, clock }) as never,
    'drain',
    '--all',
    '-o',
    'json',
  )
  const { server: _server, asked: _asked, ...printed } = JSON.parse(out) as Record<string, unknown>
  const plan = await createPlanForPage({ api, clock, leaseNamespace: 'cofferdam-system' })(signal)
  expect(JSON.parse(JSON.stringify(plan))).toEqual(printed)
  expect(plan.never.length).toBeGreaterThan(0)
  expect(plan.waves.length).toBeGreaterThan(0)
})

it('readers that ask at once share one plan, and the next one is computed anew', async () => {
  const { api, clock } = scenario
  const ask = createPlanForPage({ api, clock, leaseNamespace: 'cofferdam-system' })
  const [one, other] = await Promise.all([ask(signal), ask(signal)])
  expect(one).toBe(other)
  expect(await ask(signal)).not.toBe(one)
})
