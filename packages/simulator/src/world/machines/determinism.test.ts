import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, leases, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { expect, it } from 'vitest'
import { createBudgetHealthCheck } from './budget-health-check.ts'
import { createModernHealthChecks } from './modern-health-checks.ts'
import { createNodeHealthCheck } from './node-health-check.ts'
import { openMachines, putBudget, putMachineHealthCheck, putNodeHealthCheck } from './testing/machines-fixture.ts'

/** Three remediators at once on a cluster that falls ill, and all that the API holds afterwards. */
async function outcome(seed: number): Promise<string> {
  const fixture = await openMachines({ seed })
  const remediators = [createBudgetHealthCheck, createModernHealthChecks, createNodeHealthCheck].map((create) =>
    create(fixture.ports, {}),
  )
  try {
    await putBudget(fixture, { name: 'all', labels: {}, allowed: 1 })
    await putMachineHealthCheck(fixture)
    await putNodeHealthCheck(fixture)
    for (const node of ['node-2', 'node-5']) fixture.world.kubelet.powerOff(node)
    await fixture.minutes(15)
    const { kinds } = fixture.machines
    const types: readonly ResourceType[] = [
      kinds.machines,
      kinds.machineSets,
      kinds.healthChecks,
      machineDisruptionBudgets,
      nodes,
      leases,
      events,
    ]
    const held = await Promise.all(types.map((type) => fixture.api.list(type)))
    return JSON.stringify([held, remediators.map(({ controls }) => controls.remediated())])
  } finally {
    for (const remediator of remediators) remediator.stop()
    fixture.stop()
  }
}

it('the same seed gives the same cluster to the last byte, another seed another one', async () => {
  const first = await outcome(7)
  expect(await outcome(7)).toBe(first)
  expect(await outcome(8)).not.toBe(first)
})
