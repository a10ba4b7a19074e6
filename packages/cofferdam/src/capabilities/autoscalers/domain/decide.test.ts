import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { decideKeeping } from './decide.ts'
import { keptAnnotation, scaleDownMarks } from './scale-down-marks.ts'
import { type KeepSnapshot, parseMarkedNode } from './snapshot.ts'

type Phase = NonNullable<NonNullable<NodeDisruption['status']>['phase']>

const marked = {
  ...Object.fromEntries(scaleDownMarks.map((key) => [key, 'true'])),
  [keptAnnotation]: scaleDownMarks.join(','),
}

function request(
  phase: Phase | undefined,
  more: { intent?: 'Reboot' | 'Remove'; nodeUid?: string } = {},
): NodeDisruption {
  const { intent = 'Reboot', nodeUid } = more
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'reboot-1' },
    spec: { nodeName: 'node-1', intent, honourSkipDrain: true },
    status: { ...(phase === undefined ? {} : { phase }), ...(nodeUid === undefined ? {} : { nodeUid }) },
  }
}

function steps(requests: readonly NodeDisruption[], more: Partial<KeepSnapshot> = {}, marks = {}) {
  const node = { name: 'node-1', uid: 'uid-1', marks }
  const plan = decideKeeping({ node, requests, claim: undefined, ...more })
  return plan.steps.flatMap((step) => (step.do === 'write' ? [step.isKept ? 'mark' : 'take back'] : (step.note ?? [])))
}

describe('a request for a reboot', () => {
  it.each<[string, Phase | undefined, string[]]>([
    ['that was just made marks nothing: it may wait for days', undefined, []],
    ['that waits marks nothing', 'Waiting', []],
    ['that has its holds marks the node before its first pod is evicted', 'Locking', ['mark']],
    ['that evicts keeps autoscalers from the node that gets empty', 'Draining', ['mark']],
    ['whose node may go keeps autoscalers from a node that is empty and cordoned', 'Drained', ['mark']],
    ['whose node is back keeps them until its pods are', 'Recovering', ['mark']],
    ['that is over needs nothing', 'Completed', []],
    ['that was rejected needs nothing', 'Rejected', []],
  ])('%s', (_sentence, phase, done) => {
    expect(steps([request(phase)])).toEqual(done)
  })

  it('that is over has its marks taken back', () => {
    expect(steps([request('Completed')], {}, marked)).toEqual(['take back'])
  })

  it('that was deleted while no operator ran has its marks taken back by the next one', () => {
    expect(steps([], {}, marked)).toEqual(['take back'])
  })

  it('was for another node of this name: what was created anew is an ordinary node', () => {
    expect(steps([request('Drained', { nodeUid: 'uid-0' })])).toEqual([])
    expect(steps([request('Drained', { nodeUid: 'uid-1' })])).toEqual(['mark'])
    const unnamed = parseMarkedNode({ metadata: { name: 'node-1' } })
    expect(steps([request('Drained', { nodeUid: 'uid-1' })], { node: unnamed })).toEqual([])
  })
})

it('a node that is removed for good is not kept from those who would remove it', () => {
  expect(steps([request('Drained', { intent: 'Remove' })])).toEqual([])
})

it('a node that does not exist needs nothing', () => {
  expect(decideKeeping(undefined).steps).toEqual([])
})

it('pods that Karpenter deletes at a set time are reported with the time, so that their owner can move them before', () => {
  const claim = {
    name: 'general-1',
    nodeName: 'node-1',
    pool: 'general',
    isLeaving: true,
    endsMs: Date.UTC(2026, 0, 2),
    gracePeriod: '24h',
    expiresMs: undefined,
  }
  expect(steps([], { claim })).toEqual([
    'Karpenter removes node node-1 (NodeClaim general-1) and deletes the pods that are left by 2026-01-02T00:00:00Z, whatever their budgets say.',
  ])
  expect(steps([], { claim: { ...claim, endsMs: undefined } })).toEqual([])
})
