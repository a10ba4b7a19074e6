import { nodes, podDisruptionBudgets, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { budget, openWorld, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { explainNode } from '../../explain/explain-node.ts'
import { nodeVerdict } from '../../explain/node-verdict.ts'
import { openReader } from '../../observe/reader.ts'
import { observeVerdicts } from '../../observe/verdicts.ts'
import { installOperator } from '../demo/install-operator.ts'
import { observeNodes } from '../explain/observe-nodes.ts'
import { rehearseNodes } from './rehearse-nodes.ts'

const nodeCount = 30
const apart = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: { app: 'search' } }, topologyKey: 'kubernetes.io/hostname' },
    ],
  },
}
const tolerations = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => {
  return { key, operator: 'Exists' as const, effect: 'NoExecute' as const, tolerationSeconds: 1_800 }
})

let scenario: Awaited<ReturnType<typeof openWorld>>
beforeEach(async () => {
  scenario = await openWorld({ nodeCount })
  await installOperator(scenario.server)
})
afterEach(() => scenario.stop())

/** A pod on each of so many nodes asks to stay through a reboot. */
async function stayOn(replicas: number): Promise<void> {
  const annotations = { 'cofferdam.io/skip-drain': 'true' }
  const shape = {
    replicas,
    pod: { affinity: apart, tolerations },
    annotations,
    podManagementPolicy: 'Parallel' as const,
  }
  await scenario.api.create(statefulSets, statefulSet('search', shape))
  await scenario.api.create(podDisruptionBudgets, budget('search', { maxUnavailable: 1 }))
  await scenario.seconds(60)
}

const place = (api: KubeApi) => ({
  api,
  clock: scenario.clock,
  leaseNamespace: 'cofferdam-system',
  signal: new AbortController().signal,
})

/** Counts what is read through it. */
function counting(api: KubeApi): { readonly api: KubeApi; reads: () => number } {
  let reads = 0
  const counted = new Proxy(api, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name, target)
      if (name === 'list' || name === 'get') reads += 1
      return typeof own === 'function' ? own.bind(target) : own
    },
  })
  return { api: counted, reads: () => reads }
}

async function judge(api: KubeApi) {
  return observeVerdicts({ ...place(api), rehearse: rehearseNodes }, [])
}

it('every node whose pods ask to stay is judged as explain judges it, not only the first ones', async () => {
  await stayOn(nodeCount)
  const { nodes: verdicts } = await judge(scenario.api)
  const { items } = await scenario.api.list(nodes)
  const snapshots = await observeNodes(items, await openReader(place(scenario.api)))
  expect(snapshots.filter(({ rehearsal }) => rehearsal !== undefined)).toHaveLength(nodeCount)
  expect([...verdicts]).toEqual(snapshots.map((each) => [each.node.metadata.name, nodeVerdict(explainNode(each))]))
})

it('thirty nodes are judged with as many questions to the API server as one: an open page must not load it', async () => {
  await stayOn(1)
  const one = counting(scenario.api)
  await judge(one.api)
  await scenario.api.patch(
    statefulSets,
    { namespace: 'default', name: 'search' },
    { type: 'merge', body: { spec: { replicas: nodeCount } } },
  )
  await scenario.seconds(120)
  const all = counting(scenario.api)
  expect((await judge(all.api)).nodes.size).toBe(nodeCount)
  expect(all.reads()).toBe(one.reads())
})
