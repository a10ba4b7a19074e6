import { expect, it } from 'vitest'
import { summarizeCluster } from '../../explain/summarize-cluster.ts'
import {
  budget,
  earlier,
  node,
  now,
  osdBudget,
  osdPod,
  pod,
  storageView,
} from '../../explain/testing/sample-objects.ts'
import { capabilities, shownOf } from '../../operator/capabilities.ts'
import { plainPaint } from '../../shared/paint.ts'
import { renderStatus } from './status-text.ts'

const answer = (domain: string) => ({
  domain,
  osds: [],
  nodes: [],
  mayDrain: domain === 'zone-x',
  reason: domain === 'zone-x' ? 'DomainReleased' : 'OtherDomainDown',
  explanation: '',
})
const held = { domains: ['zone-x', 'zone-y', 'zone-z'].map(answer), domainCounts: { total: 9, held: 5 } }

it('a cluster in the middle of a storage drain fits on one screen', () => {
  const storage = [
    storageView({ problems: ['pool/.mgr: has no rule'], isAttended: false, unattendedSince: earlier, ...held }),
  ]
  const summary = summarizeCluster({
    nodes: [node('node-a', { spec: { unschedulable: true } }), node('node-b'), node('node-c', { isReady: false })],
    pods: [
      pod('orders-0', { node: 'node-b' }),
      osdPod(2, { zone: 'zone-y', node: 'node-b' }),
      osdPod(4, { zone: 'zone-z', node: 'node-c' }),
    ],
    budgets: [
      budget('orders', { disruptionsAllowed: 0, desiredHealthy: 3 }, { spec: { maxUnavailable: 0 } }),
      osdBudget('zone-y'),
      osdBudget('zone-z'),
    ],
    storage,
    events: [
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: 'shop', name: 'orders-3.1' },
        involvedObject: { kind: 'Pod', namespace: 'shop', name: 'orders-3' },
        type: 'Warning',
        reason: 'FailedScheduling',
        message: '0/9 nodes are available',
        count: 4,
        lastTimestamp: earlier,
      },
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: 'shop', name: 'orders-3.2' },
        involvedObject: { kind: 'Pod', namespace: 'shop', name: 'orders-3' },
        type: 'Normal',
        reason: 'Scheduled',
      },
    ],
    now,
  })
  const status = {
    observedAt: now,
    server: 'https://cluster',
    operator: { isRunning: false },
    ...summary,
    storage,
    notSeen: [],
  }
  expect(renderStatus(status, { list: shownOf(capabilities), paint: plainPaint }).split('\n')).toEqual([
    'Cluster   https://cluster, 3 nodes, 3 pods',
    'Operator  no operator is running',
    'Nodes     2 ready, 1 not ready, 1 drained',
    'Budgets   3, 3 allow no eviction',
    'Storage   rook-ceph/rook-ceph: DomainOpen for 10m: zone-x is being drained; the others wait',
    '          this may be out of date: no operator has updated it for 10m',
    '          zone zone-y, zone-z: may not be drained now (OtherDomainDown)',
    '          3 more of 9 may not be drained now',
    '          open: zone-x',
    '          noout: zone-x',
    '          problem: pool/.mgr: has no rule',
    '',
    'NODE    STATE',
    'node-a  Ready, cordoned, drained',
    'node-c  NotReady for 10m',
    '',
    'BUDGET       REASON            FOR  WHY                                                                                     HELD BY',
    'shop/orders  BudgetImpossible  10m  maxUnavailable is 0 with 3 pods: it never allows an eviction, however healthy they are  its author',
    '',
    'Held as said under Storage: rook-ceph/rook-ceph-osd-zone-zone-y, rook-ceph/rook-ceph-osd-zone-zone-z',
    '',
    'WARNING                OBJECT             AGO  MESSAGE',
    'FailedScheduling (x4)  pod/shop/orders-3  10m  0/9 nodes are available',
  ])
})
