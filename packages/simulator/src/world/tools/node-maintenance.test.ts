import { type NodeMaintenance, nodeMaintenances } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import {
  customResourceDefinitions,
  deployments,
  leases,
  namespaces,
  nodes,
  podDisruptionBudgets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { microTimestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeMaintenanceDefinition } from '../../cluster-file/maintenance-definitions.ts'
import type { RestartedActor } from '../actor.ts'
import type { World } from '../start-world.ts'
import { budget, deployment, openWorld, type Scenario } from '../testing/scenario.ts'
import { createNodeMaintenanceOperator } from './node-maintenance.ts'

let scenario: Scenario & { readonly world: World }
let operator: RestartedActor

beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3, kubelet: { readySeconds: 1, terminationSeconds: 1 } })
  const { api, clock, random, world, failures } = scenario
  await api.create(customResourceDefinitions, nodeMaintenanceDefinition())
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'medik8s-leases' } })
  await api.create(deployments, deployment('shop', { replicas: 3 }))
  await api.create(podDisruptionBudgets, budget('shop', { maxUnavailable: 1 }))
  operator = createNodeMaintenanceOperator({
    api,
    clock,
    random,
    views: world.views,
    onFailure: (failure) => failures.push(failure),
  })
  await scenario.seconds(10)
})

afterEach(() => {
  expect(scenario.failures).toEqual([])
  operator.stop()
  scenario.stop()
})

const maintain = (nodeName: string) =>
  scenario.api.create(nodeMaintenances, {
    apiVersion: 'nodemaintenance.medik8s.io/v1beta1',
    kind: 'NodeMaintenance',
    metadata: { name: `for-${nodeName}` },
    spec: { nodeName, reason: 'new disks' },
  } as NodeMaintenance)

const statusOf = async (nodeName: string) =>
  (await scenario.api.get(nodeMaintenances, { name: `for-${nodeName}` })).status ?? {}

/** `cordoned medik8s.io/drain excluded`: what stands on a node. */
async function marksOf(name: string): Promise<string> {
  const { metadata, spec } = await scenario.api.get(nodes, { name })
  const isExcluded = metadata.labels?.['remediation.medik8s.io/exclude-from-remediation'] === 'true'
  return [
    ...(spec?.unschedulable === true ? ['cordoned'] : []),
    ...(spec?.taints ?? []).map(({ key }) => key).filter((key) => key.startsWith('medik8s')),
    ...(isExcluded ? ['excluded'] : []),
  ].join(' ')
}

const holderOf = async (node: string) =>
  (await scenario.list(leases)).find(({ metadata }) => metadata.name === `node-${node}`)?.spec?.holderIdentity

const podsOn = async (node: string) =>
  (await scenario.podsOf('shop')).filter(({ spec }) => spec.nodeName === node).length

describe('the Node Maintenance Operator', () => {
  it('takes Lease, label, taint and cordon, empties the node, and gives all of it back when the object is deleted', async () => {
    await maintain('node-1')
    await scenario.seconds(10)
    expect(await statusOf('node-1')).toMatchObject({ phase: 'Succeeded', drainProgress: 100 })
    expect(await marksOf('node-1')).toBe('cordoned medik8s.io/drain excluded')
    expect([await holderOf('node-1'), await podsOn('node-1')]).toEqual(['node-maintenance', 0])
    await scenario.api.delete(nodeMaintenances, { name: 'for-node-1' })
    await scenario.seconds(2)
    expect([await marksOf('node-1'), await holderOf('node-1')]).toEqual(['', undefined])
    expect(await scenario.list(nodeMaintenances)).toEqual([])
  })

  it('goes on for ever where a budget refuses, and its one worker has the next node wait for half a minute', async () => {
    const body = { spec: { maxUnavailable: 0 } }
    await scenario.api.patch(podDisruptionBudgets, { namespace: 'default', name: 'shop' }, { type: 'merge', body })
    await maintain('node-1')
    await scenario.seconds(5)
    await maintain('node-2')
    await scenario.seconds(20)
    expect([await marksOf('node-1'), await marksOf('node-2')]).toEqual(['cordoned medik8s.io/drain excluded', ''])
    await scenario.seconds(600)
    expect(await marksOf('node-2')).toBe('cordoned medik8s.io/drain excluded')
    expect(await statusOf('node-1')).toMatchObject({ phase: 'Running', pendingPods: [expect.any(String)] })
  })

  it('that lost its Lease in the middle uncordons the node and fails', async () => {
    await maintain('node-1')
    await scenario.seconds(10)
    const now = microTimestamp(scenario.clock)
    const body = { spec: { holderIdentity: 'another', renewTime: now } }
    await scenario.api.patch(leases, { namespace: 'medik8s-leases', name: 'node-node-1' }, { type: 'merge', body })
    operator.restart()
    await scenario.seconds(30)
    expect(await statusOf('node-1')).toMatchObject({ phase: 'Failed' })
    expect([await marksOf('node-1'), await holderOf('node-1')]).toEqual(['', 'another'])
  })

  it('that never had the Lease waits for it, seventeen minutes at a time in the end, and touches nothing of the node', async () => {
    const now = microTimestamp(scenario.clock)
    await scenario.api.create(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'medik8s-leases', name: 'node-node-1' },
      spec: { holderIdentity: 'another', leaseDurationSeconds: 120, renewTime: now },
    })
    await maintain('node-1')
    await scenario.seconds(100)
    expect([await statusOf('node-1'), await marksOf('node-1')]).toMatchObject([{ phase: 'Running' }, ''])
    await scenario.seconds(1_100)
    expect(await statusOf('node-1')).toMatchObject({ phase: 'Succeeded' })
  })
})
