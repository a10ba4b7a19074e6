import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { managedLabels } from '../capabilities/ceph-drain/domain/budget-mark.ts'
import type { DisruptionAnswer } from '../capabilities/drain-lock/view/explain-disruption.ts'
import type { HoldView } from '../capabilities/drain-lock/view/hold-view.ts'
import { emptyLedger } from '../ledger/rules/ledger.ts'
import { known } from '../shared/observed.ts'
import { explainNode } from './explain-node.ts'
import type { NodeExplanation, NodeState } from './explanation.ts'
import type { NodeSnapshot } from './snapshot.ts'
import { budget, earlier, node, now, osdBudget, osdPod, pod, storageView } from './testing/sample-objects.ts'

const none = { disruptionsAllowed: 0, currentHealthy: 2 }

const seen = (facts: Partial<NodeSnapshot>): NodeSnapshot => ({
  node: node('worker-a1'),
  pods: [],
  budgets: [],
  storage: [],
  now,
  ...facts,
})

/** What a reader sees first: the verdict, who answers what, and what stands in the way. */
const told = ({ mayGo, summary, pods, blockers }: NodeExplanation) => ({
  mayGo,
  summary,
  pods: Object.fromEntries(pods.map(({ pod: name, verdict }) => [name, verdict])),
  blockers: blockers.map(({ object, reason, waiting }) => `${object} ${reason}: ${waiting.join(' ')}`),
})

/** A mon beside an OSD, under a budget that spares none. */
const monBeside = (mayDrain: boolean): Partial<NodeSnapshot> => ({
  pods: [pod('mon-a', { labels: { app: 'rook-ceph-mon' } })],
  budgets: [
    budget('rook-ceph-mon-pdb', none, {
      metadata: { labels: managedLabels },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'rook-ceph-mon' } } },
    }),
  ],
  storage: [
    storageView({
      namespace: 'shop',
      domains: [
        { domain: 'zone-x', osds: [0], nodes: ['worker-a1'], mayDrain, reason: 'SafeToDrain', explanation: 'it may' },
      ],
    }),
  ],
})

const asksToStay = { metadata: { annotations: { 'cofferdam.io/skip-drain': 'true' } } }

/** Requests under way, of which only what they leave on their node matters here. */
const holdsWith = (disruptions: readonly Pick<DisruptionAnswer, 'node' | 'stays'>[]): HoldView => ({
  nowMs: Date.parse(now),
  ledger: known(emptyLedger),
  appLocks: new Map(),
  disruptions: disruptions.map((each) => ({
    request: `reboot-${each.node}`,
    intent: 'Reboot',
    phase: 'Drained',
    explanation: '',
    isBlocked: false,
    blockedBy: [],
    warnings: [],
    evicted: [],
    locked: [],
    hasFallenBack: false,
    isCancelled: false,
    ...each,
  })),
  leftByRequest: [],
  hasGuard: undefined,
})

const cases: Record<string, { given: NodeSnapshot; then: ReturnType<typeof told> }> = {
  'a node whose pods may all go is free': {
    given: seen({
      pods: [pod('web-1'), pod('free-1'), pod('agent-1', { ownerKind: 'DaemonSet' }), pod('web-2', { node: 'other' })],
      budgets: [budget('web')],
    }),
    then: {
      mayGo: true,
      summary: 'All 2 pods may go.',
      pods: { 'shop/free-1': 'goes', 'shop/web-1': 'goes', 'shop/agent-1': 'stays' },
      blockers: [],
    },
  },
  'a node with one pod that waits is blocked by that pod’s budget': {
    given: seen({ pods: [pod('web-1'), pod('db-1')], budgets: [budget('web', none), budget('db')] }),
    then: {
      mayGo: false,
      summary: '1 of 2 pods may not go now.',
      pods: { 'shop/web-1': 'waits', 'shop/db-1': 'goes' },
      blockers: ['pdb/shop/web BudgetExhausted: pod/shop/web-1'],
    },
  },
  'pods that wait for one budget are one blocker': {
    given: seen({ pods: [pod('web-1'), pod('web-2')], budgets: [budget('web', none)] }),
    then: {
      mayGo: false,
      summary: '2 of 2 pods may not go now.',
      pods: { 'shop/web-1': 'waits', 'shop/web-2': 'waits' },
      blockers: ['pdb/shop/web BudgetExhausted: pod/shop/web-1 pod/shop/web-2'],
    },
  },
  'two pods of a budget that spares one go one after the other, and that is no block': {
    given: seen({ pods: [pod('web-1'), pod('web-2')], budgets: [budget('web')] }),
    then: {
      mayGo: true,
      summary: 'All 2 pods may go, 1 of them queued.',
      pods: { 'shop/web-2': 'in-turn', 'shop/web-1': 'goes' },
      blockers: [],
    },
  },
  'a mon that goes after the first OSD of its node does not keep the node from being drained': {
    given: seen(monBeside(true)),
    then: {
      mayGo: true,
      summary: 'All 1 pod may go, 1 of them queued.',
      pods: { 'shop/mon-a': 'in-turn' },
      blockers: [],
    },
  },
  'a mon beside OSDs that may not go now waits with them': {
    given: seen(monBeside(false)),
    then: {
      mayGo: false,
      summary: '1 of 1 pod may not go now.',
      pods: { 'shop/mon-a': 'waits' },
      blockers: ['pdb/shop/rook-ceph-mon-pdb FollowsOsds: pod/shop/mon-a'],
    },
  },
  'an empty node holds nothing to evict': {
    given: seen({}),
    then: { mayGo: true, summary: 'It holds nothing to evict.', pods: {}, blockers: [] },
  },
  'a drained node is drained, and what stays does not count': {
    given: seen({
      node: node('worker-a1', { spec: { unschedulable: true } }),
      pods: [pod('agent-1', { ownerKind: 'DaemonSet' })],
    }),
    then: {
      mayGo: true,
      summary: 'It is drained: nothing is left to evict.',
      pods: { 'shop/agent-1': 'stays' },
      blockers: [],
    },
  },
  'a node that is only cordoned, with a pod that asks to stay, is not called drained: its budget is held by nobody': {
    given: seen({
      node: node('worker-a1', { spec: { unschedulable: true } }),
      pods: [pod('orders-0', asksToStay)],
    }),
    then: {
      mayGo: true,
      summary:
        'It is cordoned and not drained: pods that ask to stay run on it, and no request holds their budgets yet.',
      pods: { 'shop/orders-0': 'stays' },
      blockers: [],
    },
  },
  'a node with a pod that asks to stay is blocked while the budget of that pod allows nothing: called free, a reboot would take down a second pod of it':
    {
      given: seen({
        pods: [pod('web-1'), pod('search-0', asksToStay)],
        budgets: [budget('web'), budget('search', none)],
      }),
      then: {
        mayGo: false,
        summary: 'It may not be drained now.',
        pods: { 'shop/web-1': 'goes', 'shop/search-0': 'stays' },
        blockers: ['pdb/shop/search BudgetExhausted: pod/shop/search-0'],
      },
    },
  'a node that holds nothing but such a pod is blocked, too, and not called empty': {
    given: seen({ pods: [pod('search-0', asksToStay)], budgets: [budget('search', none)] }),
    then: {
      mayGo: false,
      summary: 'It may not be drained now.',
      pods: { 'shop/search-0': 'stays' },
      blockers: ['pdb/shop/search BudgetExhausted: pod/shop/search-0'],
    },
  },
  'a pod that a request leaves on the node is counted as gone by its budget for that very node, and does not hold it': {
    given: seen({
      pods: [pod('search-0', asksToStay)],
      budgets: [budget('search', none)],
      holds: holdsWith([{ node: 'worker-a1', stays: ['shop/search-0'] }]),
    }),
    then: {
      mayGo: true,
      summary: 'It holds nothing to evict.',
      pods: { 'shop/search-0': 'stays' },
      blockers: [],
    },
  },
  'the request of another node lends it nothing': {
    given: seen({
      pods: [pod('search-0', asksToStay)],
      budgets: [budget('search', none)],
      holds: holdsWith([{ node: 'worker-b1', stays: ['shop/search-1'] }]),
    }),
    then: {
      mayGo: false,
      summary: 'It may not be drained now.',
      pods: { 'shop/search-0': 'stays' },
      blockers: ['pdb/shop/search BudgetExhausted: pod/shop/search-0'],
    },
  },
  'a silent node is blocked by itself: nobody there would end its pods': {
    given: seen({ node: node('worker-a1', { isReady: false }), pods: [pod('web-1')], budgets: [budget('web')] }),
    then: {
      mayGo: false,
      summary: 'It may not be drained now.',
      pods: { 'shop/web-1': 'goes' },
      blockers: ['node/worker-a1 NodeNotReady: pod/shop/web-1'],
    },
  },
  'a silent node that holds nothing is in nobody’s way': {
    given: seen({ node: node('worker-a1', { isReady: false }) }),
    then: { mayGo: true, summary: 'It holds nothing to evict.', pods: {}, blockers: [] },
  },
  'OSDs of an open failure domain may go while the other zones are blocked': {
    given: seen({
      node: node('node-a'),
      pods: [osdPod(0, { zone: 'zone-x', node: 'node-a' }), osdPod(1, { zone: 'zone-x', node: 'node-a' })],
      budgets: [osdBudget('zone-y'), osdBudget('zone-z')],
      storage: [storageView()],
    }),
    then: {
      mayGo: true,
      summary: 'All 2 pods may go.',
      pods: { 'rook-ceph/rook-ceph-osd-0': 'goes', 'rook-ceph/rook-ceph-osd-1': 'goes' },
      blockers: [],
    },
  },
  'OSDs of another failure domain wait, with the reason that was recorded': {
    given: seen({
      node: node('node-b'),
      pods: [osdPod(2, { zone: 'zone-y', node: 'node-b' }), osdPod(3, { zone: 'zone-y', node: 'node-b' })],
      budgets: [osdBudget('zone-y'), osdBudget('zone-z')],
      storage: [storageView()],
    }),
    then: {
      mayGo: false,
      summary: '2 of 2 pods may not go now.',
      pods: { 'rook-ceph/rook-ceph-osd-2': 'waits', 'rook-ceph/rook-ceph-osd-3': 'waits' },
      blockers: [
        'pdb/rook-ceph/rook-ceph-osd-zone-zone-y DomainOpen: pod/rook-ceph/rook-ceph-osd-2 pod/rook-ceph/rook-ceph-osd-3',
      ],
    },
  },
  'a failure domain that may not be away blocks its nodes even before a budget says so': {
    given: seen({
      node: node('node-b'),
      pods: [osdPod(2, { zone: 'zone-y', node: 'node-b' })],
      budgets: [osdBudget()],
      storage: [
        storageView({
          source: 'ceph',
          openDomains: [],
          domains: [
            {
              domain: 'zone-y',
              osds: [2, 3],
              nodes: ['node-b'],
              mayDrain: false,
              reason: 'PodsRemain',
              explanation: '3 placement groups sit at min_size',
            },
          ],
        }),
      ],
    }),
    then: {
      mayGo: false,
      summary: 'It may not be drained now.',
      pods: { 'rook-ceph/rook-ceph-osd-2': 'goes' },
      blockers: ['cephcluster/rook-ceph/rook-ceph PodsRemain: pod/rook-ceph/rook-ceph-osd-2'],
    },
  },
  'a failure domain that may not be away does not block a node whose OSDs do not run: the eviction API grants them': {
    given: seen({
      node: node('node-b'),
      pods: [{ ...osdPod(2, { zone: 'zone-y', node: 'node-b' }), status: { phase: 'Pending' } }],
      budgets: [osdBudget()],
      storage: [
        storageView({
          openDomains: [],
          domains: [
            { domain: 'zone-y', osds: [2], nodes: ['node-b'], mayDrain: false, reason: 'DataWaits', explanation: '' },
          ],
        }),
      ],
    }),
    then: {
      mayGo: true,
      summary: 'Its only pod may go.',
      pods: { 'rook-ceph/rook-ceph-osd-2': 'goes' },
      blockers: [],
    },
  },
}

describe('may this node be drained now', () => {
  it.each(Object.entries(cases))('%s', (_scenario, { given, then }) => expect(told(explainNode(given))).toEqual(then))

  it('the storage answer names the failure domain, its OSDs here and where the answer comes from', () => {
    const { storage } = explainNode(
      seen({
        node: node('node-b'),
        pods: [osdPod(3, { zone: 'zone-y', node: 'node-b' }), osdPod(2, { zone: 'zone-y', node: 'node-b' })],
        storage: [storageView(), storageView({ namespace: 'elsewhere' })],
      }),
    )
    expect(storage).toEqual([
      {
        cluster: 'rook-ceph/rook-ceph',
        osds: [2, 3],
        failureDomainType: 'zone',
        domain: 'zone-y',
        reason: 'DomainOpen',
        explanation: 'zone-x is being drained; the others wait',
        since: earlier,
        source: 'record',
        isAttended: true,
      },
    ])
  })

  it('the command has every flag that some pod needs, and no other', () => {
    const command = (...pods: NodeSnapshot['pods']) => explainNode(seen({ pods })).command
    expect(command(pod('web-1'))).toBe('kubectl drain worker-a1 --ignore-daemonsets')
    expect(
      command(
        pod('bare-1', { ownerKind: undefined }),
        pod('web-1', { spec: { volumes: [{ name: 'x', emptyDir: {} }] } }),
      ),
    ).toBe('kubectl drain worker-a1 --ignore-daemonsets --delete-emptydir-data --force')
  })
})

describe('the state of a node', () => {
  const inProgress: Condition = {
    type: 'DrainInProgress',
    status: 'True',
    reason: 'PodsLeaving',
    lastTransitionTime: earlier,
  }
  const cordoned = node('worker-a1', { spec: { unschedulable: true } })
  const states: Record<string, { given: Partial<NodeSnapshot>; then: NodeState }> = {
    'ready and in use': { given: {}, then: { isReady: true, isCordoned: false, drain: 'NotCordoned' } },
    'cordoned, by the tool that wrote the field and since then': {
      given: {
        pods: [pod('web-1')],
        node: {
          ...cordoned,
          metadata: {
            name: 'worker-a1',
            managedFields: [
              { manager: 'kubelet', time: now, fieldsV1: { 'f:status': {} }, subresource: 'status' },
              { manager: 'kured', time: earlier, fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } },
            ],
          },
        },
      },
      then: {
        isReady: true,
        isCordoned: true,
        closedBy: ['cordon'],
        cordonedBy: 'kured',
        cordonedSince: earlier,
        drain: 'CordonedOnly',
      },
    },
    'cordoned by nobody knows whom, since the taint says': {
      given: {
        pods: [pod('web-1')],
        node: node('worker-a1', {
          spec: {
            unschedulable: true,
            taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: earlier }],
          },
        }),
      },
      then: { isReady: true, isCordoned: true, closedBy: ['cordon'], cordonedSince: earlier, drain: 'CordonedOnly' },
    },
    'closed by the taint of the tool that empties it, and not called cordoned by an unknown client': {
      given: {
        pods: [pod('web-1')],
        node: node('worker-a1', {
          spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule', timeAdded: earlier }] },
        }),
      },
      then: {
        isReady: true,
        isCordoned: true,
        closedBy: ['taint karpenter.sh/disrupted (Karpenter)'],
        cordonedSince: earlier,
        drain: 'CordonedOnly',
      },
    },
    'being drained since the operator saw it': {
      given: { node: { ...cordoned, status: { conditions: [inProgress] } }, pods: [pod('web-1')] },
      then: {
        isReady: false,
        notReadyReason: 'it has never reported',
        isCordoned: true,
        closedBy: ['cordon'],
        drain: 'PodsLeaving',
        drainSince: earlier,
      },
    },
    'silent, since when': {
      given: { node: node('worker-a1', { isReady: false }) },
      then: {
        isReady: false,
        notReadyReason: 'NodeStatusUnknown',
        notReadySince: earlier,
        isCordoned: false,
        drain: 'NotCordoned',
      },
    },
  }
  it.each(Object.entries(states))('%s', (_scenario, { given, then }) => {
    expect(explainNode(seen(given)).node).toEqual(then)
  })
})
