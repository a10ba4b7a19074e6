import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { explainNode } from './explain-node.ts'
import { findWedge } from './find-wedge.ts'
import { budget, node, now, osdBudget, osdPod, pod, storageView } from './testing/sample-objects.ts'

const cordoned = (name: string) => node(name, { spec: { unschedulable: true } })

/** A pod that fits on one node alone, and that node takes none. */
function unplaced(of: Pod, on: string): Pod {
  const { nodeName: _, ...spec } = of.spec
  const message = '0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) did not match.'
  return {
    ...of,
    spec: { ...spec, nodeSelector: { 'kubernetes.io/hostname': on } },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message }] },
  }
}

/** What `explain` finds where node-a, of zone-x, and node-b, of zone-y, are drained at once. */
function wedgeOf(pods: readonly Pod[], budgets: readonly PodDisruptionBudget[], object: string) {
  const held = {
    domain: 'zone-y',
    osds: [2],
    nodes: ['node-b'],
    mayDrain: false,
    reason: 'DomainOpen',
    explanation: 'zone-x is away',
  }
  const storage = [storageView({ reason: 'DomainOpen', openDomains: ['zone-x'], domains: [held] })]
  const closed = ['node-a', 'node-b'].map((name) => {
    const place = { ...cordoned(name), metadata: { name, labels: { 'kubernetes.io/hostname': name } } }
    return { node: place, explanation: explainNode({ node: place, pods, budgets, storage, now }) }
  })
  return findWedge({ closed, budgets, pods }, object)
}

describe('a circle of waits through Ceph', () => {
  const osdBack = unplaced(osdPod(1, { zone: 'zone-x', node: 'node-a' }), 'node-a')
  const osdHeld = osdPod(2, { zone: 'zone-y', node: 'node-b' })
  const webHeld = pod('web-0', { node: 'node-a' })
  const webBack = unplaced(pod('web-1', { node: 'node-b' }), 'node-b')
  const webShort = budget('web', { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 })
  const monBudget = budget(
    'rook-ceph-mon-pdb',
    { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    {
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'rook-ceph-mon' } } },
      metadata: { namespace: 'rook-ceph', labels: { 'app.kubernetes.io/managed-by': 'cofferdam' } },
    },
  )
  const budgets = [osdBudget('zone-y'), webShort]

  it('is named where the OSD that Ceph waits for has no place but a node that waits for the other one', () => {
    const wedge = wedgeOf([osdBack, osdHeld, webHeld, webBack], budgets, 'node/node-b')
    expect(wedge?.circle.map(({ object, says }) => `${object} ${says}`)).toEqual([
      'node/node-b is cordoned and waits until pod/rook-ceph/rook-ceph-osd-2 may go',
      'pod/rook-ceph/rook-ceph-osd-2 waits for pdb/rook-ceph/rook-ceph-osd-zone-zone-y',
      'pdb/rook-ceph/rook-ceph-osd-zone-zone-y waits until every OSD is back, pod/rook-ceph/rook-ceph-osd-1 first',
      'pod/rook-ceph/rook-ceph-osd-1 has no node and waits until node/node-a takes pods again',
      'node/node-a is cordoned and waits until pod/shop/web-0 may go',
      'pod/shop/web-0 waits for pdb/shop/web',
      'pdb/shop/web waits until pod/shop/web-1 is healthy',
      'pod/shop/web-1 has no node and waits until node/node-b takes pods again',
    ])
    expect(wedge?.wayOut).toMatch(/^kubectl uncordon node-[ab]$/)
  })

  it('is named where no OSD but a mon beside OSDs waits for the one that has no place', () => {
    const mon = pod('rook-ceph-mon-a', { namespace: 'rook-ceph', node: 'node-b', labels: { app: 'rook-ceph-mon' } })
    const wedge = wedgeOf([osdBack, mon, webHeld, webBack], [monBudget, webShort], 'node/node-b')
    expect(wedge?.circle.slice(1, 3).map(({ object, says }) => `${object} ${says}`)).toEqual([
      'pod/rook-ceph/rook-ceph-mon-a waits for pdb/rook-ceph/rook-ceph-mon-pdb',
      'pdb/rook-ceph/rook-ceph-mon-pdb waits until every OSD is back, pod/rook-ceph/rook-ceph-osd-1 first',
    ])
  })

  it('is none where the OSD is down on a node of its own: it may come back by itself', () => {
    const down = { ...osdPod(1, { zone: 'zone-x', node: 'node-a' }), status: { phase: 'Running' as const } }
    expect(wedgeOf([down, osdHeld, webHeld, webBack], budgets, 'node/node-b')).toBeUndefined()
  })

  it('is none where the node that the OSD waits for has nothing left to evict, so that its drain ends', () => {
    expect(wedgeOf([osdBack, osdHeld, webBack], budgets, 'node/node-b')).toBeUndefined()
  })
})
