import { describe, expect, it } from 'vitest'
import type { PodOnNode } from '../../../shared/pod-on-node.ts'
import { decideDrain } from './decide.ts'
import type { DrainSnapshot, GoneNode } from './snapshot.ts'

const orders: PodOnNode = {
  uid: 'uid of orders',
  name: 'orders',
  namespace: 'shop',
  nodeName: 'node-a',
  mustLeave: true,
  wantsToStay: false,
  isLeaving: false,
  isEvicted: false,
}

const cordoned: DrainSnapshot = {
  node: { name: 'node-a', isCordoned: true, drainInProgress: undefined, drained: undefined },
  pods: [],
  leftByRequest: [],
  now: '2026-01-01T12:00:00Z',
}

function stepsOf(snapshot: DrainSnapshot | GoneNode | undefined): string[] {
  return decideDrain(snapshot).steps.map((step) => {
    if (step.do === 'ask') return `ask what is on ${step.nodeName}`
    if (step.do === 'report') return `report ${step.nodeName} without ${step.pods.join(', ')}`
    return `write ${step.conditions.map(({ type, status }) => `${type}=${status}`).join(' ')}`
  })
}

const cases: Record<string, { given: DrainSnapshot | GoneNode | undefined; then: string[] }> = {
  'a node that has gone needs nothing': { given: undefined, then: [] },
  'a node that was deleted with pods on it is reported: no budget was asked for them': {
    given: { gone: 'node-a', pods: [orders, { ...orders, name: 'leaving', isLeaving: true }] },
    then: ['report node-a without shop/orders'],
  },
  'a node that was deleted after its drain is no news': {
    given: {
      gone: 'node-a',
      pods: [
        { ...orders, mustLeave: false },
        { ...orders, isLeaving: true },
      ],
    },
    then: [],
  },
  'a copy without pods is not believed: the server is asked before a machine may be taken down': {
    given: cordoned,
    then: ['ask what is on node-a'],
  },
  'what the server listed is believed: the node is drained': {
    given: { ...cordoned, isFresh: true },
    then: ['write DrainInProgress=False Drained=True'],
  },
  'the server lists a pod that the copy did not show: the node is not drained': {
    given: { ...cordoned, isFresh: true, pods: [orders] },
    then: ['write DrainInProgress=False Drained=False'],
  },
  'that a node is not drained is said on a copy: nobody takes a machine down for it': {
    given: { ...cordoned, pods: [orders] },
    then: ['write DrainInProgress=False Drained=False'],
  },
  'conditions that say it already are not written again': {
    given: { ...cordoned, node: { ...cordoned.node, isCordoned: false } },
    then: [],
  },
}

describe('the steps of a pass over a node', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(stepsOf(given)).toEqual(then)
  })
})

it('a drain that is seen by its attempts alone is judged again when they count no longer: no watch tells of that', () => {
  const attempt = { by: 'alice', atMs: Date.parse(cordoned.now) - 60_000 }
  const seen = { ...cordoned, node: { ...cordoned.node, attempt }, pods: [orders] }
  expect(decideDrain(seen).recheckAfterMs).toBe(240_000)
  expect(decideDrain({ ...cordoned, pods: [orders] }).recheckAfterMs).toBeUndefined()
})
