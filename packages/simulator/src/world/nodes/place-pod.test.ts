import type { Node, Pod, PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { barePod, container, node } from '../testing/scenario.ts'
import { ClusterLoad } from './cluster-load.ts'
import { placePod } from './place-pod.ts'

function cluster(nodes: readonly Node[], placed: readonly Pod[] = []): ClusterLoad {
  const load = new ClusterLoad()
  for (const item of nodes) load.setNode(item.metadata.name, item)
  for (const pod of placed) load.setPod(pod.metadata.name, pod)
  return load
}

function asking(cpu: string, memory = '1Gi'): Partial<PodSpec> {
  return { containers: [{ ...container, resources: { requests: { cpu, memory } } }] }
}

const three = [node(1), node(2), node(3)]
const zone = 'topology.kubernetes.io/zone'
const host = 'kubernetes.io/hostname'
const web = { matchLabels: { app: 'web' } }
const apart = (topologyKey: string): Partial<PodSpec> => ({
  affinity: {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: web, topologyKey }] },
  },
})
const on = (nodeName: string, spec: Partial<PodSpec> & { labels?: object } = {}) =>
  barePod(`on-${nodeName}`, { nodeName, ...spec })

const cases: Record<string, { nodes?: Node[]; placed?: Pod[]; pod: Pod; then: string }> = {
  'a pod without wishes goes to the emptiest node': {
    placed: [on('node-1', asking('2')), on('node-2', asking('1'))],
    pod: barePod('new'),
    then: 'node-3',
  },
  'equal nodes: the first by name': { nodes: [node(3), node(2), node(1)], pod: barePod('new'), then: 'node-1' },
  'without any node there is nothing to choose from': {
    nodes: [],
    pod: barePod('new'),
    then: 'no nodes available to schedule pods',
  },
  'a cordoned node takes no pod': {
    nodes: [node(1, { unschedulable: true }), node(2)],
    pod: barePod('new'),
    then: 'node-2',
  },
  'a cordoned node takes a pod that tolerates it': {
    nodes: [node(1, { unschedulable: true })],
    pod: barePod('new', { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }),
    then: 'node-1',
  },
  'taints, full nodes and selectors are all named, counted and sorted': {
    nodes: [
      node(1, { taints: [{ key: 'a', effect: 'NoSchedule' }] }),
      node(2),
      node(3, { unschedulable: true }),
      node(4),
    ],
    pod: barePod('new', { ...asking('8', '64Gi') }),
    then:
      '0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, ' +
      '2 Insufficient cpu, 2 Insufficient memory.',
  },
  'what runs is taken off what a node can give': {
    placed: [on('node-1', asking('3')), on('node-2', asking('3')), on('node-3', asking('1'))],
    pod: barePod('new', asking('2')),
    then: 'node-3',
  },
  'the number of pods is limited too': {
    nodes: [{ ...node(1), status: { allocatable: { cpu: '4', memory: '16Gi', pods: '1' } } }],
    placed: [on('node-1')],
    pod: barePod('new'),
    then: '0/1 nodes are available: 1 Too many pods.',
  },
  'a node selector is kept to': { pod: barePod('new', { nodeSelector: { [host]: 'node-2' } }), then: 'node-2' },
  'a node selector that nothing meets is explained': {
    pod: barePod('new', { nodeSelector: { disk: 'nvme' } }),
    then: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
  },
  'a pod made for one node goes there and nowhere else': {
    pod: barePod('new', {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-3'] }] }],
          },
        },
      },
    }),
    then: 'node-3',
  },
  'required anti-affinity keeps pods of one kind on different nodes': {
    placed: [on('node-1', { labels: { app: 'web' } }), on('node-2', { labels: { app: 'web' } })],
    pod: barePod('new', { labels: { app: 'web' }, ...apart(host) }),
    then: 'node-3',
  },
  'a pod that is there already keeps a newcomer away that does not mind itself': {
    nodes: [node(1)],
    placed: [on('node-1', { labels: { app: 'db' }, ...apart(host) })],
    pod: barePod('new', { labels: { app: 'web' } }),
    then: "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
  },
  'required affinity follows the pod it wants to be near': {
    placed: [on('node-2', { labels: { app: 'web' } })],
    pod: barePod('new', {
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: web, topologyKey: zone }] },
      },
    }),
    then: 'node-2',
  },
  'required affinity to nobody is explained, unless the pod is its own first neighbour': {
    pod: barePod('new', {
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: web, topologyKey: zone }] },
      },
    }),
    then: "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.",
  },
  'a hard spread sends the pod to the zone with the fewest': {
    nodes: [node(1), node(2), node(4)],
    placed: [on('node-1', { labels: { app: 'web' } })],
    pod: barePod('new', {
      labels: { app: 'web' },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web },
      ],
    }),
    then: 'node-2',
  },
  'a hard spread that cannot be kept leaves the pod waiting': {
    nodes: [node(1), node(2, { unschedulable: true })],
    placed: [on('node-1', { labels: { app: 'web' } })],
    pod: barePod('new', {
      labels: { app: 'web' },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web },
      ],
    }),
    then:
      "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, " +
      '1 node(s) were unschedulable.',
  },
  'a wish to be apart is followed while it can be': {
    placed: [on('node-1', { labels: { app: 'web' } }), on('node-2', asking('2'))],
    nodes: [node(1), node(2)],
    pod: barePod('new', {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 100, podAffinityTerm: { labelSelector: web, topologyKey: host } },
          ],
        },
      },
    }),
    then: 'node-2',
  },
}

describe('placing a pod', () => {
  it.each(Object.entries(cases))('%s', (_, { nodes = three, placed = [], pod, then }) => {
    const placement = placePod(cluster(nodes, placed), pod)
    expect(placement.placed ? placement.node : placement.message).toBe(then)
  })

  it('counts stay right when pods go and nodes change their zone', () => {
    const load = cluster(three, [on('node-1', { labels: { app: 'web' } })])
    const pod = barePod('new', { labels: { app: 'web' }, ...apart(zone) })
    const choices = () => {
      const placement = placePod(load, pod)
      return placement.placed ? placement.node : placement.message
    }
    expect(choices()).toBe('node-2')
    const moved = node(2)
    load.setNode('node-2', {
      ...moved,
      metadata: { ...moved.metadata, labels: { [host]: 'node-2', [zone]: 'zone-a' } },
    })
    expect(choices()).toBe('node-3')
    load.setPod('on-node-1', undefined)
    expect(choices()).toBe('node-1')
  })
})
