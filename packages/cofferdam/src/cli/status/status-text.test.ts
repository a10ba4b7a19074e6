import { describe, expect, it } from 'vitest'
import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
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

describe('the drains on the screen', () => {
  const drain = (name: string, rest: Partial<DisruptionAnswer> = {}): DisruptionAnswer => ({
    request: `${name}-20260101-000000`,
    node: name,
    intent: 'Reboot',
    phase: 'Waiting',
    since: earlier,
    explanation: '',
    isBlocked: false,
    blockedBy: [],
    warnings: [],
    stays: [],
    evicted: [],
    locked: [],
    hasFallenBack: false,
    isCancelled: false,
    ...rest,
  })
  const budget = {
    object: 'pdb/shop/orders',
    reason: 'HeldByRequest',
    holder: `op-1 for nodedisruption/${'x'.repeat(60)}`,
    wayOut: '',
  }

  it('say who asked, a person or the object of a tool, and fit: what blocks them pushed everything off the screen', () => {
    const drains = [
      drain('worker-a1', { requester: 'ann@desk', isBlocked: true, blockedBy: [budget, budget, budget] }),
      drain('worker-a2', { requester: 'kured', askedBy: 'daemonset/kube-system/kured', isCancelled: true }),
      drain('worker-a3', { requester: `${'y'.repeat(40)}@desk` }),
      drain('worker-a4', {}),
    ]
    const summary = { ...summarizeCluster({ nodes: [], pods: [], budgets: [], storage: [], events: [], now }), drains }
    const status = { observedAt: now, server: '', operator: { isRunning: false }, ...summary, notSeen: [] }
    const lines = renderStatus(status, { list: [], paint: plainPaint }).split('\n')
    const table = lines.slice(lines.findIndex((line) => line.startsWith('DRAIN ')))
    expect(table).toEqual([
      'DRAIN      REQUEST                    PHASE               FOR  ASKED BY',
      'worker-a1  worker-a1-20260101-000000  Waiting             10m  ann@desk',
      '  blocked by pdb/shop/orders (HeldByRequest, op-1 for nodedisruption/xxxxxxxxxxxxxxxxxxx… and 2 more',
      'worker-a2  worker-a2-20260101-000000  Waiting, cancelled  10m  daemonset/kube-system/kured',
      'worker-a3  worker-a3-20260101-000000  Waiting             10m  yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…',
      'worker-a4  worker-a4-20260101-000000  Waiting             10m',
    ])
    expect(Math.max(...table.map(({ length }) => length))).toBe(100)
  })
})
