import { deployments, nodes, podDisruptionBudgets, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  budget,
  deployment,
  openWorld,
  type Scenario,
  statefulSet,
} from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createExplainCommand } from './explain.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3 })
})
afterEach(() => scenario.stop())

function explain(...argv: string[]) {
  return runCommand(
    createExplainCommand({ connect: inProcess(scenario.api).connect, clock: scenario.clock }),
    'explain',
    ...argv,
  )
}

async function cordon(...names: string[]) {
  for (const name of names) {
    await scenario.api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: true } } })
  }
  await scenario.seconds(2)
}

/** One pod of each on a node of its own, and one may be away. */
async function spread(name: string, replicas: number) {
  const podAntiAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: { app: name } }, topologyKey: 'kubernetes.io/hostname' },
    ],
  }
  await scenario.api.create(statefulSets, statefulSet(name, { replicas, pod: { affinity: { podAntiAffinity } } }))
  await scenario.api.create(podDisruptionBudgets, budget(name, { maxUnavailable: 1 }))
  await scenario.seconds(60)
}

async function evictFrom(app: string, node: string) {
  const pod = (await scenario.podsOf(app)).find(({ spec }) => spec.nodeName === node)
  await evictPod(scenario.api, { namespace: 'default', name: pod?.metadata.name as string })
  await scenario.seconds(60)
}

describe('things that wait for each other', () => {
  it('two drains that each evicted a pod that only fits on the other node are named as a circle, and its way out ends it', async () => {
    await spread('db', 3)
    await spread('cache', 3)
    await cordon('node-1', 'node-2')
    await evictFrom('db', 'node-1')
    await evictFrom('cache', 'node-2')
    const { code, out } = await explain('node-2')
    expect(code).toBe(3)
    const [, circle = ''] = out.split('These wait for each other in a circle; none of them ends by itself:\n')
    expect(circle.split('\n\n')[0]?.split('\n')).toEqual([
      '  node/node-2 is cordoned and waits until pod/default/db-1 may go',
      '  pod/default/db-1 waits for pdb/default/db',
      '  pdb/default/db waits until pod/default/db-0 is healthy',
      '  pod/default/db-0 has no node and waits until node/node-1 takes pods again',
      '  node/node-1 is cordoned and waits until pod/default/cache-0 may go',
      '  pod/default/cache-0 waits for pdb/default/cache',
      '  pdb/default/cache waits until pod/default/cache-1 is healthy',
      '  pod/default/cache-1 has no node and waits until node/node-2 takes pods again',
      '  way out   kubectl uncordon node-1',
      '            Its drain starts again later; no pod and no data is lost.',
    ])
    for (const object of ['pdb/db', 'sts/cache', 'pod/cache-0']) {
      const { code: same, out: text } = await explain(object)
      expect({ object, same, isNamed: text.includes('in a circle') }).toEqual({ object, same: 3, isNamed: true })
    }

    await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await scenario.seconds(60)
    expect((await explain('node-2')).code).toBe(0)
  })

  it('a node that has nothing left to evict comes back, so whatever waits for it is in no circle', async () => {
    await spread('db', 3)
    await cordon('node-1', 'node-2')
    await evictFrom('db', 'node-1')
    const { code, out } = await explain('node-2')
    expect({ code, isNamed: out.includes('in a circle') }).toEqual({ code: 3, isNamed: false })
  })

  it('one drain at a time is no circle: the pod finds another node, and the budget has room again', async () => {
    await spread('db', 2)
    await cordon('node-1', 'node-2')
    await evictFrom('db', 'node-1')
    const { code, out } = await explain('node-2')
    expect({ code, isNamed: out.includes('in a circle') }).toEqual({ code: 0, isNamed: false })
  })

  it('a pod that is not ready for a reason of its own may get well, so nothing is called a circle', async () => {
    await scenario.api.create(deployments, deployment('web', { replicas: 2, minReadySeconds: 500 }))
    await scenario.api.create(podDisruptionBudgets, budget('web', { minAvailable: 2 }))
    await scenario.seconds(20)
    await cordon('node-1', 'node-2', 'node-3')
    for (const name of ['node-1', 'node-2', 'node-3']) {
      expect((await explain(name)).out).not.toContain('in a circle')
    }
  })
})
