import { expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { ClaimView } from '../domain/parse-claim.ts'
import { keptAnnotation, scaleDownMarks } from '../domain/scale-down-marks.ts'
import type { KeepSnapshot } from '../domain/snapshot.ts'
import { answerAutoscalers, autoscalerLines, summarizeAutoscalers } from './explain-autoscalers.ts'

const [ca, karpenter] = scaleDownMarks
const marked = { [ca]: 'true', [karpenter]: 'true', [keptAnnotation]: `${ca},${karpenter}` }

const reboot: NodeDisruption = {
  apiVersion: 'cofferdam.io/v1alpha1',
  kind: 'NodeDisruption',
  metadata: { name: 'reboot-1' },
  spec: { nodeName: 'node-1', intent: 'Reboot', honourSkipDrain: true },
  status: { phase: 'Drained' },
}
const claim: ClaimView = {
  name: 'general-1',
  nodeName: 'node-1',
  pool: 'general',
  isLeaving: false,
  endsMs: undefined,
  gracePeriod: undefined,
  expiresMs: undefined,
}

function snapshot(marks: Record<string, string>, more: Partial<KeepSnapshot> = {}): KeepSnapshot {
  return { node: { name: 'node-1', uid: 'uid-1', marks }, requests: [], claim: undefined, ...more }
}

const cases: Record<string, readonly [KeepSnapshot, readonly string[]]> = {
  'a node without a request, a mark or a claim is not worth a word': [snapshot({}), []],
  'a node that is kept names the request and the annotations': [
    snapshot(marked, { requests: [reboot] }),
    [`kept from autoscalers for nodedisruption/reboot-1 by ${ca}, ${karpenter}`],
  ],
  'a mark that the administrator took away is named with what may happen': [
    snapshot({ [ca]: 'true', [keptAnnotation]: ca }, { requests: [reboot] }),
    [
      `kept from autoscalers for nodedisruption/reboot-1 by ${ca}`,
      `${karpenter} is not "true": its autoscaler may remove the node during nodedisruption/reboot-1`,
    ],
  ],
  'marks that outlived their request are named until an operator removes them': [
    snapshot(marked),
    [`${ca}, ${karpenter} of an earlier request will be removed`],
  ],
  'a claim that keeps to budgets and never ends says nothing': [snapshot({}, { claim }), []],
  'a grace period is named before it counts, so that the pool can be changed in time': [
    snapshot({}, { claim: { ...claim, gracePeriod: '1h' } }),
    [
      'when Karpenter removes the node, pods are deleted after 1h, whatever their budgets say (terminationGracePeriod of NodePool general)',
    ],
  ],
  'the end of a node by its age is named': [
    snapshot({}, { claim: { ...claim, pool: '', expiresMs: Date.UTC(2026, 0, 31) } }),
    [
      'Karpenter removes the node at 2026-01-31T00:00:00Z (expireAfter of NodeClaim general-1), whatever annotations and budgets of the NodePool say',
    ],
  ],
  'a node that Karpenter removes within budgets says so': [
    snapshot({}, { claim: { ...claim, isLeaving: true } }),
    ['Karpenter removes the node (NodeClaim general-1), within the budgets of its pods'],
  ],
  'a node whose pods are deleted at a set time says when': [
    snapshot({}, { claim: { ...claim, isLeaving: true, endsMs: Date.UTC(2026, 0, 2) } }),
    [
      'Karpenter removes node node-1 (NodeClaim general-1) and deletes the pods that are left by 2026-01-02T00:00:00Z, whatever their budgets say.',
    ],
  ],
}

it.each(Object.entries(cases))('%s', (_sentence, [seen, lines]) => {
  const answer = answerAutoscalers([seen], 'node-1')
  expect(answer === undefined ? [] : autoscalerLines(answer)).toEqual(lines)
})

it('the whole cluster names nodes that are kept or lose their pods, not every node of Karpenter', () => {
  expect(summarizeAutoscalers([snapshot({}), snapshot({}, { claim })])).toBeUndefined()
  expect(summarizeAutoscalers([snapshot({}, { claim }), snapshot(marked, { requests: [reboot] })])).toMatchObject([
    { keptFor: ['nodedisruption/reboot-1'] },
  ])
})
