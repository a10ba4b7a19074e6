import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { expect, it } from 'vitest'
import { suggestCommands } from './suggest-commands.ts'

const node = (name: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
const pod = (app: string, nodeName: string, kind = 'ReplicaSet', annotations = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `${app}-${nodeName}`,
    namespace: 'shop',
    labels: { app },
    annotations,
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name: app, uid: app, controller: true }],
  },
  spec: { nodeName, containers: [] },
})
const budget = (app: string, disruptionsAllowed = 1): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: app, namespace: 'shop' },
  spec: { selector: { matchLabels: { app } }, maxUnavailable: 1 },
  status: { disruptionsAllowed, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
})

const calledAs = 'cofferdam'
const suggest = (cluster: Omit<Parameters<typeof suggestCommands>[0], 'calledAs'>) =>
  suggestCommands({ ...cluster, calledAs })
const linesOf = (cluster: Parameters<typeof suggest>[0]) => suggest(cluster).map(({ lines }) => lines[0])

it('names nodes that really hold guarded pods, and prefers a StatefulSet, whose budget surely makes the second wait', () => {
  const nodes = ['n1', 'n2', 'n3', 'n4'].map(node)
  const pods = [pod('web', 'n2'), pod('web', 'n3'), pod('db', 'n4', 'StatefulSet'), pod('db', 'n3', 'StatefulSet')]
  expect(suggest({ nodes, pods, budgets: [budget('web'), budget('db')] })).toEqual([
    {
      says: 'Take a node out, and watch its pods move',
      lines: ['cofferdam drain n2', 'cofferdam uncordon n2'],
    },
    {
      says: 'Lock shop/db, as its owner would: every drain shows who, why and until when',
      lines: [
        'cofferdam lock pdb/shop/db --for 10m --reason rebalancing',
        'kubectl drain n3 --ignore-daemonsets --timeout=20s',
        'cofferdam unlock pdb/shop/db',
        'kubectl uncordon n3',
      ],
    },
    {
      says: 'Drain two nodes that share a workload: budget shop/db makes the second wait',
      lines: ['kubectl drain n3 n4 --ignore-daemonsets', 'kubectl uncordon n3 n4'],
    },
  ])
})

it('takes out a node whose pod asks to stay where there is one, and locks another workload', () => {
  const stays = (nodeName: string) => pod('search', nodeName, 'StatefulSet', { 'cofferdam.io/skip-drain': 'true' })
  const pods = [pod('web', 'n1'), pod('web', 'n2'), stays('n2'), stays('n3')]
  const [first, second] = suggestCommands({
    nodes: ['n1', 'n2', 'n3'].map(node),
    pods,
    budgets: [budget('search'), budget('web')],
    calledAs: 'node bin/cofferdam.js',
  })
  expect(first).toEqual({
    says: 'Take a node out for a reboot: the pod of shop/search stays, and its budget counts it as gone; the others move',
    lines: ['node bin/cofferdam.js drain n2', 'node bin/cofferdam.js uncordon n2'],
  })
  expect(second?.lines[0]).toBe('node bin/cofferdam.js lock pdb/shop/web --for 10m --reason rebalancing')
})

it('takes two nodes of any workload where there is no StatefulSet', () => {
  const pods = [pod('web', 'n1'), pod('web', 'n2')]
  expect(linesOf({ nodes: [node('n1')], pods, budgets: [budget('web')] })[2]).toBe(
    'kubectl drain n1 n2 --ignore-daemonsets',
  )
})

it('leaves the second drain out where no budget covers two nodes', () => {
  expect(linesOf({ nodes: [node('n1')], pods: [pod('web', 'n1')], budgets: [budget('web')] })).toEqual([
    'kubectl get pods -A -o wide',
    'cofferdam drain n1',
    'cofferdam lock pdb/shop/web --for 10m --reason rebalancing',
  ])
})

it('nothing is locked where there are no budgets, and an empty cluster can only be looked at', () => {
  expect(linesOf({ nodes: [node('n1')], pods: [], budgets: [] })).toEqual([
    'kubectl get pods -A -o wide',
    'cofferdam drain n1',
  ])
  expect(linesOf({ nodes: [], pods: [], budgets: [] })).toEqual(['kubectl get pods -A -o wide'])
})

it('shows the blocking budgets where Ceph keeps data in several zones, instead of two drains of which one could not end', () => {
  const osd = (id: number, zone: string, nodeName: string): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `rook-ceph-osd-${id}`,
      namespace: 'rook-ceph',
      labels: { app: 'rook-ceph-osd', osd: String(id), 'topology-location-zone': zone },
    },
    spec: { nodeName, containers: [] },
  })
  const pods = [osd(10, 'a', 'n9'), osd(3, 'b', 'n3'), osd(2, 'a', 'n2'), osd(1, 'a', 'n1'), pod('web', 'n1')]
  const nodes = ['n1', 'n2', 'n3', 'n9'].map(node)
  expect(suggest({ nodes, pods: [...pods, pod('web', 'n2')], budgets: [budget('web')] })[2]).toEqual({
    says: 'Drain storage in two zones: once n1 is drained, blocking budgets keep n3 until n1 is back',
    lines: [
      'kubectl drain n1 --ignore-daemonsets',
      'kubectl -n rook-ceph get pdb',
      'kubectl drain n3 --ignore-daemonsets --timeout=20s',
      'kubectl uncordon n1 n3',
    ],
  })
})

it('does not send anybody into a drain that cannot end without saying so', () => {
  const pods = [pod('cart', 'n1'), pod('web', 'n1'), pod('web', 'n2')]
  const cluster = { nodes: [node('n1'), node('n2')], pods, budgets: [budget('web'), budget('cart', 0)] }
  expect(linesOf(cluster).slice(0, 2)).toEqual([
    'cofferdam drain n2',
    'cofferdam lock pdb/shop/web --for 10m --reason rebalancing',
  ])
  expect(suggest(cluster).slice(2)).toEqual([
    {
      says: 'Drain a node and be refused: budget shop/cart allows no eviction, and the drain gives up',
      lines: ['kubectl drain n1 --ignore-daemonsets --timeout=20s', 'kubectl uncordon n1'],
    },
  ])
})

it('calls no drain vain because of mons that follow the OSDs of their node: it would end', () => {
  const mons = budget('rook-ceph-mon', 0)
  const following: PodDisruptionBudget = {
    ...mons,
    metadata: { ...mons.metadata, name: 'rook-ceph-mon-pdb' },
    spec: { ...mons.spec, maxUnavailable: 0 },
  }
  const pods = [pod('web', 'n1'), pod('web', 'n2'), pod('rook-ceph-mon', 'n1')]
  const says = suggest({ nodes: ['n1', 'n2'].map(node), pods, budgets: [following, budget('web')] })
  expect(says.map((each) => each.says)).not.toContainEqual(expect.stringContaining('in vain'))
})
