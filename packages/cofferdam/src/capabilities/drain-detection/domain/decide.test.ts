import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PodOnNode } from '../../../shared/pod-on-node.ts'
import { type Reason, reasons } from '../../../shared/reasons.ts'
import { type DrainDecision, decideDrainConditions } from './decide.ts'
import type { DrainSnapshot } from './snapshot.ts'

const now = '2026-01-01T12:00:00Z'
const earlier = '2026-01-01T11:00:00Z'

const pod = (name: string, facts: Partial<PodOnNode> = {}): PodOnNode => ({
  uid: `uid of ${name}`,
  name,
  namespace: 'shop',
  nodeName: 'node-a',
  mustLeave: true,
  wantsToStay: false,
  isLeaving: false,
  isEvicted: false,
  ...facts,
})

const condition = (type: string, status: Condition['status'], reason: Reason, at = now): Condition => ({
  type,
  status,
  reason,
  message: reasons[reason],
  lastTransitionTime: at,
})

const node = (facts: Partial<DrainSnapshot['node']> = {}): DrainSnapshot['node'] => ({
  name: 'node-a',
  isCordoned: true,
  drainInProgress: undefined,
  drained: undefined,
  ...facts,
})

const minutesAgo = (minutes: number) => Date.parse(now) - minutes * 60_000
const attempted = (minutes: number) => ({ attempt: { by: 'alice', atMs: minutesAgo(minutes) } })
const saysWho = (since: string): Condition => ({
  type: 'DrainInProgress',
  status: 'True',
  reason: 'EvictionAttempted',
  message: `alice has tried to evict pods of this node; seen since ${since}.`,
  lastTransitionTime: since,
})

type Given = Omit<DrainSnapshot, 'leftByRequest'> & { readonly leftByRequest?: readonly string[] }

const cases: Record<string, { given: Given; then: DrainDecision }> = {
  'a node that was never cordoned is left alone: nothing is written': {
    given: { node: node({ isCordoned: false }), pods: [pod('web')], now },
    then: { reason: 'NotCordoned', conditions: [] },
  },
  'a drain that the guard refuses says what for, where kubectl describe node shows it': {
    given: {
      node: node({ attempt: { by: 'alice', atMs: minutesAgo(1), refusedFor: 'pdb/shop/orders (AppLocked)' } }),
      pods: [pod('orders')],
      now,
    },
    then: {
      reason: 'EvictionAttempted',
      conditions: [
        {
          ...saysWho(now),
          message: `alice has tried to evict pods of this node; seen since ${now}. Refused for pdb/shop/orders (AppLocked); cofferdam explain node/node-a says more.`,
        },
        condition('Drained', 'False', 'PodsRemain'),
      ],
      recheckAfterMs: 240_000,
    },
  },
  'a drain that asks without a name is a drain all the same': {
    given: { node: node({ attempt: { by: '', atMs: minutesAgo(1) } }), pods: [pod('orders')], now },
    then: {
      reason: 'EvictionAttempted',
      conditions: [
        { ...saysWho(now), message: `Somebody has tried to evict pods of this node; seen since ${now}.` },
        condition('Drained', 'False', 'PodsRemain'),
      ],
      recheckAfterMs: 240_000,
    },
  },
  'a drain whose attempt was removed from the node goes on while pods leave, and still says who it was': {
    given: {
      node: node({ drainInProgress: saysWho(earlier), drained: condition('Drained', 'False', 'PodsRemain', earlier) }),
      pods: [pod('orders', { isEvicted: true })],
      now,
    },
    then: { reason: 'EvictionAttempted', conditions: [] },
  },
  'one that never said who it was says what it is': {
    given: {
      node: node({
        drainInProgress: { type: 'DrainInProgress', status: 'True', reason: 'EvictionAttempted' },
        drained: condition('Drained', 'False', 'PodsRemain', earlier),
      }),
      pods: [pod('orders', { isEvicted: true })],
      now,
    },
    then: {
      reason: 'EvictionAttempted',
      conditions: [condition('DrainInProgress', 'True', 'EvictionAttempted')],
    },
  },
  'a drain whose condition does not say since when is seen since now, and not since never': {
    given: {
      node: node({
        ...attempted(1),
        drainInProgress: { type: 'DrainInProgress', status: 'True', reason: 'PodsLeaving' },
        drained: condition('Drained', 'False', 'PodsRemain', earlier),
      }),
      pods: [pod('orders')],
      now,
    },
    then: { reason: 'EvictionAttempted', conditions: [saysWho(now)], recheckAfterMs: 240_000 },
  },
  'a cordon without evictions is not a drain': {
    given: { node: node(), pods: [pod('web')], now },
    then: {
      reason: 'CordonedOnly',
      conditions: [condition('DrainInProgress', 'False', 'CordonedOnly'), condition('Drained', 'False', 'PodsRemain')],
    },
  },
  'the first granted eviction on a cordoned node is a drain': {
    given: { node: node(), pods: [pod('web', { isEvicted: true }), pod('orders')], now },
    then: {
      reason: 'PodsLeaving',
      conditions: [condition('DrainInProgress', 'True', 'PodsLeaving'), condition('Drained', 'False', 'PodsRemain')],
    },
  },
  'a drain that waits for a budget, with nothing leaving at the moment, is still a drain and is not written again': {
    given: {
      node: node({
        drainInProgress: condition('DrainInProgress', 'True', 'PodsLeaving', earlier),
        drained: condition('Drained', 'False', 'PodsRemain', earlier),
      }),
      pods: [pod('orders')],
      now,
    },
    then: { reason: 'PodsLeaving', conditions: [] },
  },
  'only pods that stay are left: the node is drained': {
    given: {
      node: node({ drainInProgress: condition('DrainInProgress', 'True', 'PodsLeaving', earlier) }),
      pods: [pod('agent', { mustLeave: false })],
      now,
    },
    then: {
      reason: 'DrainCompleted',
      conditions: [
        condition('DrainInProgress', 'False', 'DrainCompleted'),
        condition('Drained', 'True', 'DrainCompleted'),
      ],
    },
  },
  'a pod that asks to stay, on a node that is only cordoned, has not gone: a rebooter would take it down with nothing held':
    {
      given: { node: node(), pods: [pod('orders', { wantsToStay: true })], now },
      then: {
        reason: 'CordonedOnly',
        conditions: [
          condition('DrainInProgress', 'False', 'CordonedOnly'),
          condition('Drained', 'False', 'PodsRemain'),
        ],
      },
    },
  'a pod that asks to stay, on a node whose evictions are refused, has not gone: two replicas would be down at once': {
    given: { node: node(attempted(1)), pods: [pod('orders', { wantsToStay: true })], now },
    then: {
      reason: 'EvictionAttempted',
      conditions: [saysWho(now), condition('Drained', 'False', 'PodsRemain')],
      recheckAfterMs: 240_000,
    },
  },
  'a pod that a request leaves on the node, with its budget held, does not keep the node from being drained': {
    given: { node: node(), pods: [pod('orders', { wantsToStay: true })], leftByRequest: ['uid of orders'], now },
    then: {
      reason: 'DrainCompleted',
      conditions: [
        condition('DrainInProgress', 'False', 'DrainCompleted'),
        condition('Drained', 'True', 'DrainCompleted'),
      ],
    },
  },
  'a pod that was to stay and is being deleted has not gone yet: its node is not drained': {
    given: {
      node: node(),
      pods: [pod('orders', { wantsToStay: true, isLeaving: true })],
      leftByRequest: ['uid of orders'],
      now,
    },
    then: {
      reason: 'CordonedOnly',
      conditions: [condition('DrainInProgress', 'False', 'CordonedOnly'), condition('Drained', 'False', 'PodsRemain')],
    },
  },
  'another pod with the name of one that was to stay is not the one that its request holds the budget for': {
    given: {
      node: node(),
      pods: [pod('orders', { uid: 'a later one', wantsToStay: true })],
      leftByRequest: ['uid of orders'],
      now,
    },
    then: {
      reason: 'CordonedOnly',
      conditions: [condition('DrainInProgress', 'False', 'CordonedOnly'), condition('Drained', 'False', 'PodsRemain')],
    },
  },
  'a request that is over leaves no pod behind: the node takes back that it is drained': {
    given: {
      node: node({
        drainInProgress: condition('DrainInProgress', 'False', 'DrainCompleted', earlier),
        drained: condition('Drained', 'True', 'DrainCompleted', earlier),
      }),
      pods: [pod('orders', { wantsToStay: true })],
      now,
    },
    then: {
      reason: 'CordonedOnly',
      conditions: [
        condition('DrainInProgress', 'False', 'CordonedOnly', earlier),
        condition('Drained', 'False', 'PodsRemain'),
      ],
    },
  },
  'an eviction that a guard saw on a cordoned node is a drain, even if it was refused: the node says who asked': {
    given: { node: node(attempted(1)), pods: [pod('orders')], now },
    then: {
      reason: 'EvictionAttempted',
      conditions: [saysWho(now), condition('Drained', 'False', 'PodsRemain')],
      recheckAfterMs: 240_000,
    },
  },
  'an eviction from a node that takes new pods is no drain': {
    given: { node: node({ isCordoned: false, ...attempted(1) }), pods: [pod('orders')], now },
    then: { reason: 'NotCordoned', conditions: [] },
  },
  'a drain goes on while somebody keeps trying, and is not written again': {
    given: {
      node: node({
        ...attempted(4),
        drainInProgress: saysWho(earlier),
        drained: condition('Drained', 'False', 'PodsRemain', earlier),
      }),
      pods: [pod('orders')],
      now,
    },
    then: { reason: 'EvictionAttempted', conditions: [], recheckAfterMs: 60_000 },
  },
  'a drain that nobody tries to go on with for five minutes has ended': {
    given: {
      node: node({
        ...attempted(5),
        drainInProgress: saysWho(earlier),
        drained: condition('Drained', 'False', 'PodsRemain', earlier),
      }),
      pods: [pod('orders')],
      now,
    },
    then: { reason: 'DrainEnded', conditions: [condition('DrainInProgress', 'False', 'DrainEnded')] },
  },
  'a drain whose last eviction still takes effect has not ended, however long ago it was asked for': {
    given: {
      node: node({
        ...attempted(30),
        drainInProgress: saysWho(earlier),
        drained: condition('Drained', 'False', 'PodsRemain', earlier),
      }),
      pods: [pod('orders', { isEvicted: true })],
      now,
    },
    then: { reason: 'EvictionAttempted', conditions: [] },
  },
  'an attempt that is dated a day ahead is nobody’s, and counts for nothing': {
    given: {
      node: node({
        ...attempted(-1_440),
        drainInProgress: condition('DrainInProgress', 'False', 'DrainEnded', earlier),
      }),
      pods: [pod('orders')],
      now,
    },
    then: { reason: 'DrainEnded', conditions: [condition('Drained', 'False', 'PodsRemain')] },
  },
  'a drained node is uncordoned: both conditions say so': {
    given: {
      node: node({
        isCordoned: false,
        drainInProgress: condition('DrainInProgress', 'False', 'DrainCompleted', earlier),
        drained: condition('Drained', 'True', 'DrainCompleted', earlier),
      }),
      pods: [],
      now,
    },
    then: {
      reason: 'NotCordoned',
      conditions: [
        condition('DrainInProgress', 'False', 'NotCordoned', earlier),
        condition('Drained', 'False', 'NotCordoned'),
      ],
    },
  },
}

describe('whether a node is being drained', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(decideDrainConditions({ leftByRequest: [], ...given })).toEqual(then)
  })
})

const anySnapshot: fc.Arbitrary<DrainSnapshot> = fc.record({
  node: fc.record({
    name: fc.constant('node-a'),
    isCordoned: fc.boolean(),
    attempt: fc.constantFrom(...[0, 4, 5, 60, -60].map((minutes) => attempted(minutes).attempt)),
    drainInProgress: fc.option(
      fc.constantFrom(
        condition('DrainInProgress', 'True', 'PodsLeaving', earlier),
        condition('DrainInProgress', 'False', 'NotCordoned', earlier),
        condition('DrainInProgress', 'False', 'DrainEnded', earlier),
        saysWho(earlier),
      ),
      { nil: undefined },
    ),
    drained: fc.option(fc.constantFrom(condition('Drained', 'True', 'DrainCompleted', earlier)), { nil: undefined }),
  }),
  pods: fc.array(
    fc
      .record({
        uid: fc.constantFrom('left', 'not left'),
        mustLeave: fc.boolean(),
        wantsToStay: fc.boolean(),
        isLeaving: fc.boolean(),
        isEvicted: fc.boolean(),
      })
      .map((facts) => pod('any', facts)),
    { maxLength: 4 },
  ),
  leftByRequest: fc.constantFrom([], ['left']),
  now: fc.constant(now),
})

it('once written, the same view asks for no further write, and Drained is never claimed while a pod must leave', () => {
  fc.assert(
    fc.property(anySnapshot, (seen) => {
      const { conditions } = decideDrainConditions(seen)
      const written = (type: string, old: Condition | undefined) => conditions.find((each) => each.type === type) ?? old
      const after = {
        ...seen,
        node: {
          ...seen.node,
          drainInProgress: written('DrainInProgress', seen.node.drainInProgress),
          drained: written('Drained', seen.node.drained),
        },
      }
      expect(decideDrainConditions(after).conditions).toEqual([])
      const isLeft = ({ uid, isLeaving }: PodOnNode) => !isLeaving && seen.leftByRequest.includes(uid)
      const mustGo = seen.pods.some((each) => each.mustLeave && !isLeft(each))
      if (mustGo) expect(after.node.drained?.status).not.toBe('True')
    }),
  )
})
