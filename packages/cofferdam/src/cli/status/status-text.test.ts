import { describe, expect, it } from 'vitest'
import type { DisruptionAnswer } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { type BlockedBudget, summarizeCluster } from '../../explain/summarize-cluster.ts'
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
import { explainHeadline, type Headline, type HeadlineSnapshot } from './explain-headline.ts'
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
    headline: explainHeadline({ ...summary, operator: { isRunning: false }, unread: [] }),
    operator: { isRunning: false },
    ...summary,
    storage,
    notSeen: [],
  }
  expect(renderStatus(status, { list: shownOf(capabilities), paint: plainPaint }).split('\n')).toEqual([
    'Status    node-c is NotReady (and 3 more below)',
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
    'node-c  NotReady for 10m',
    'node-a  Ready, cordoned, drained',
    '',
    'BUDGET       REASON            FOR  HELD BY     WHY',
    'shop/orders  BudgetImpossible  10m  its author  maxUnavailable is 0 with 3 pods: it never allows an…',
    '',
    'Held as said under Storage: rook-ceph/rook-ceph-osd-zone-zone-y,',
    '  rook-ceph/rook-ceph-osd-zone-zone-z',
    '',
    'WARNING                OBJECT             AGO  MESSAGE',
    'FailedScheduling (x4)  pod/shop/orders-3  10m  0/9 nodes are available',
  ])
})

describe('the headline names the worst and its cause', () => {
  const ready: HeadlineSnapshot['nodes'][number] = {
    name: 'worker-a1',
    isReady: true,
    isCordoned: false,
    drain: 'NotCordoned',
  }
  const calm = {
    nodes: [ready],
    budgets: { total: 1, blocked: [] },
    drains: [],
    locks: [],
    operator: { isRunning: true },
    unread: [],
  } satisfies HeadlineSnapshot
  const request = (fields: Partial<DisruptionAnswer>): DisruptionAnswer => ({
    request: 'reboot',
    node: 'worker-a1',
    intent: 'Reboot',
    phase: 'Draining',
    explanation: 'worker-a1 is being drained: its pods are evicted.',
    isBlocked: false,
    blockedBy: [],
    warnings: [],
    stays: [],
    evicted: [],
    locked: [],
    hasFallenBack: false,
    isCancelled: false,
    ...fields,
  })
  const shut = (budgetName: string, holder: string): BlockedBudget => ({
    budget: budgetName,
    rule: 'maxUnavailable: 1',
    allowed: 0,
    healthy: 2,
    desired: 2,
    expected: 3,
    reason: 'BudgetExhausted',
    explanation: '',
    holder,
  })
  const blocker = { object: 'pdb/shop/orders', reason: 'AppLocked', holder: 'ann', wayOut: 'wait' }
  const cases: Record<string, { given: Partial<HeadlineSnapshot>; then: Headline }> = {
    'nothing to say is calm': {
      given: {},
      then: { state: 'calm', says: 'nothing is blocked, and no node is drained' },
    },
    'a blocked request comes before a node that is away: somebody waits for it': {
      given: {
        nodes: [{ ...ready, isReady: false }],
        drains: [request({ isBlocked: true, blockedBy: [blocker] })],
      },
      then: {
        state: 'blocked',
        says: 'the drain of worker-a1 is blocked by pdb/shop/orders (AppLocked, ann) (and 1 more below)',
      },
    },
    'a kubectl drain that is refused is a drain that waits, and not a cordoned node': {
      given: { nodes: [{ ...ready, isCordoned: true, cordonedBy: 'kubectl-drain', drain: 'EvictionAttempted' }] },
      then: {
        state: 'blocked',
        says: 'the drain of worker-a1 by kubectl-drain waits; cofferdam explain node/worker-a1 says for what',
      },
    },
    'a kubectl drain that goes on is under way': {
      given: { nodes: [{ ...ready, isCordoned: true, drain: 'PodsLeaving' }] },
      then: { state: 'working', says: 'worker-a1 is being drained: its pods are leaving' },
    },
    'nodes that may not be read are unknown, and not calm': {
      given: { nodes: [], unread: ['nodes'] },
      then: { state: 'unknown', says: 'nodes may not be read, so what blocks is not known' },
    },
    'what storage keeps while a node is drained is no problem of its own': {
      given: {
        drains: [request({})],
        budgets: { total: 1, blocked: [shut('rook-ceph/osd', 'cephcluster/rook-ceph/rook-ceph')] },
      },
      then: { state: 'working', says: 'worker-a1 is being drained: its pods are evicted. (and 1 more below)' },
    },
    'a drain without an operator goes nowhere': {
      given: { drains: [request({})], operator: { isRunning: false } },
      then: { state: 'degraded', says: 'no operator is running, and drains and locks wait for one' },
    },
    'a mgr that goes after its OSDs is no problem: a healthy cluster was called degraded for it': {
      given: { budgets: { total: 1, blocked: [{ ...shut('rook-ceph/mgr', 'the OSDs'), reason: 'FollowsOsds' }] } },
      then: { state: 'calm', says: 'nothing is blocked, and no node is drained' },
    },
    'a budget that allows no eviction is named with its holder': {
      given: { budgets: { total: 1, blocked: [shut('shop/orders', 'its author')] } },
      then: { state: 'degraded', says: 'pdb/shop/orders allows no eviction (BudgetExhausted, its author)' },
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(explainHeadline({ ...calm, ...given })).toEqual(then)
  })
})
