import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  machineConfigAnnotations as annotations,
  type MachineConfigPool,
  machineConfigPools,
} from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import {
  customResourceDefinitions,
  deployments,
  nodes,
  podDisruptionBudgets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { machineConfigPoolDefinition } from '../../cluster-file/maintenance-definitions.ts'
import type { RestartedActor } from '../actor.ts'
import type { World } from '../start-world.ts'
import { budget, deployment, openWorld, type Scenario } from '../testing/scenario.ts'
import { annotationOf } from './annotation-of.ts'
import { createMachineConfigOperator } from './machine-config.ts'

let scenario: Scenario & { readonly world: World }
let operator: RestartedActor

beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3, kubelet: { readySeconds: 1, terminationSeconds: 1 } })
  const { api, clock, random, world, failures } = scenario
  await api.create(customResourceDefinitions, machineConfigPoolDefinition())
  const body = {
    metadata: {
      labels: { 'node-role.kubernetes.io/worker': '' },
      annotations: {
        [annotations.currentConfig]: 'one',
        [annotations.desiredConfig]: 'one',
        [annotations.state]: 'Done',
      },
    },
  }
  for (const name of ['node-1', 'node-2', 'node-3']) await api.patch(nodes, { name }, { type: 'merge', body })
  await api.create(deployments, deployment('shop', { replicas: 3 }))
  await api.create(podDisruptionBudgets, budget('shop', { maxUnavailable: 1 }))
  await api.create(machineConfigPools, {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name: 'worker' },
    spec: {
      nodeSelector: { matchLabels: { 'node-role.kubernetes.io/worker': '' } },
      configuration: { name: 'one' },
    },
  } as MachineConfigPool)
  operator = createMachineConfigOperator(
    {
      api,
      clock,
      random,
      views: world.views,
      kubelet: world.kubelet,
      onFailure: (failure) => failures.push(failure),
    },
    { isRebootless: (config) => config === 'keys' },
  )
  await scenario.seconds(10)
})

afterEach(() => {
  expect(scenario.failures).toEqual([])
  operator.stop()
  scenario.stop()
})

const change = (body: JsonObject) =>
  scenario.api.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body: { spec: body } })

/** `node-1 Working drain-two cordoned`, in the order of their names. */
async function lines(): Promise<string[]> {
  return (await scenario.list(nodes)).map((node) =>
    [
      node.metadata.name,
      annotationOf(node, 'state'),
      annotationOf(node, 'desiredDrain'),
      node.spec?.unschedulable === true ? 'cordoned' : '',
    ]
      .filter((word) => word !== '')
      .join(' '),
  )
}

const bootsOf = async () => (await scenario.list(nodes)).map(({ status }) => status?.nodeInfo?.bootID)

describe('the Machine Config Operator', () => {
  it('brings one node after the other to the configuration of its pool: cordon, drain, reboot, uncordon', async () => {
    const before = await bootsOf()
    await change({ configuration: { name: 'two' } })
    await scenario.seconds(30)
    expect(await lines()).toEqual(['node-1 Working drain-two cordoned', 'node-2 Done', 'node-3 Done'])
    await scenario.seconds(900)
    expect(await lines()).toEqual([1, 2, 3].map((number) => `node-${number} Done uncordon-two`))
    const after = await bootsOf()
    expect(after.filter((boot, index) => boot !== before[index])).toHaveLength(3)
  })

  it('begins with no node of a pool that is paused, and goes on with the one that it had begun with', async () => {
    await change({ configuration: { name: 'two' } })
    await scenario.seconds(12)
    await change({ paused: true })
    await scenario.seconds(900)
    expect(await lines()).toEqual(['node-1 Done uncordon-two', 'node-2 Done', 'node-3 Done'])
    await change({ paused: false })
    await scenario.seconds(30)
    expect((await lines())[1]).toContain('node-2 Working')
  })

  it('tries a drain that a budget refuses again without end, complains after an hour, and cordons anew what was uncordoned', async () => {
    const shop = { namespace: 'default', name: 'shop' }
    await scenario.api.patch(podDisruptionBudgets, shop, { type: 'merge', body: { spec: { maxUnavailable: 0 } } })
    await change({ configuration: { name: 'two' } })
    await scenario.seconds(3_000)
    await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await scenario.seconds(1_200)
    expect(await lines()).toEqual(['node-1 Degraded drain-two cordoned', 'node-2 Done', 'node-3 Done'])
    expect((await scenario.eventsAbout('node-1')).join()).toContain('FailedToDrain')
    await scenario.api.patch(podDisruptionBudgets, shop, { type: 'merge', body: { spec: { maxUnavailable: 1 } } })
    await scenario.seconds(600)
    expect((await lines())[0]).toBe('node-1 Done uncordon-two')
  })

  it('goes on with the others when a node is deleted and registers again, with the configuration that is on its disk', async () => {
    await change({ configuration: { name: 'two' } })
    await scenario.seconds(30)
    const { metadata, spec, status } = await scenario.api.get(nodes, { name: 'node-1' })
    await scenario.api.delete(nodes, { name: 'node-1' })
    const again = { name: 'node-1', labels: metadata.labels ?? {} }
    const { unschedulable: _, ...open } = spec ?? {}
    await scenario.api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: again, spec: open, status } as Node)
    await scenario.seconds(5)
    expect((await lines())[0]).toBe('node-1 Done')
    await scenario.seconds(1_200)
    expect(await lines()).toEqual(['node-1 Done', 'node-2 Done uncordon-two', 'node-3 Done uncordon-two'])
    const configs = (await scenario.list(nodes)).map((node) => annotationOf(node, 'currentConfig'))
    expect(configs).toEqual(['two', 'two', 'two'])
  })

  it('goes on with an update that a restored etcd has forgotten when its pods are started again: the node has booted into it', async () => {
    await change({ configuration: { name: 'two' } })
    await scenario.seconds(900)
    const before = {
      [annotations.currentConfig]: 'one',
      [annotations.state]: 'Working',
      [annotations.desiredDrain]: 'drain-two',
      [annotations.lastAppliedDrain]: 'drain-two',
    }
    const body = { metadata: { annotations: before }, spec: { unschedulable: true } }
    await scenario.api.patch(nodes, { name: 'node-2' }, { type: 'merge', body })
    const boots = await bootsOf()
    operator.restart()
    await scenario.seconds(60)
    expect((await lines())[1]).toBe('node-2 Done uncordon-two')
    expect(await bootsOf()).toEqual(boots)
  })

  it('asks for no drain for a configuration that a restored etcd does not have: nothing would ever reboot the node (short seed 705918)', async () => {
    const { server, clock } = scenario
    const backup = server.backup()
    const preparedMs = 5_000
    let isSeen = false
    const stop = server.observe('nodes', ({ object }) => {
      if (isSeen || annotationOf(object as Node, 'state') !== 'Working') return
      isSeen = true
      // Before the daemon goes on, which waits for as long, and before a view has heard of it.
      clock.after(preparedMs, () => server.restore(backup))
    })
    await change({ configuration: { name: 'two' } })
    await scenario.seconds(300)
    stop()
    expect([isSeen, await lines()]).toEqual([true, ['node-1 Done', 'node-2 Done', 'node-3 Done']])
  })

  it('gives a machine that is new the configuration of its pool, and does not drain it for that', async () => {
    const { metadata, spec } = await scenario.api.get(nodes, { name: 'node-3' })
    await change({ configuration: { name: 'keys' } })
    await scenario.seconds(120)
    await scenario.api.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-4', labels: metadata.labels ?? {} },
      spec: spec ?? {},
    } as Node)
    await scenario.seconds(5)
    expect((await lines())[3]).toBe('node-4 Done')
  })

  it('takes as many nodes at once as may be unavailable', async () => {
    await change({ configuration: { name: 'two' }, maxUnavailable: 2 })
    await scenario.seconds(30)
    expect((await lines()).filter((line) => line.includes('Working'))).toHaveLength(2)
  })

  it('applies what a policy lets be applied without a drain, and no pod leaves', async () => {
    const before = [await bootsOf(), (await scenario.podsOf('shop')).map(({ metadata }) => metadata.uid)]
    await change({ configuration: { name: 'keys' } })
    await scenario.seconds(120)
    expect(await lines()).toEqual([1, 2, 3].map((number) => `node-${number} Done uncordon-keys`))
    expect([await bootsOf(), (await scenario.podsOf('shop')).map(({ metadata }) => metadata.uid)]).toEqual(before)
  })
})
