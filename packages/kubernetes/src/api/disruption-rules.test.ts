import { describe, expect, it } from 'vitest'
import type { Pod } from './core.ts'
import { budgetsOf, isOutsideBudgets, mayEvictUnready } from './disruption-rules.ts'
import type { LabelSelector } from './label-selector.ts'
import type { PodDisruptionBudget } from './policy.ts'

type Status = NonNullable<PodDisruptionBudget['status']>

function budget(status: Partial<Status> | undefined, spec: PodDisruptionBudget['spec'] = {}): PodDisruptionBudget {
  const counted = { disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 3, expectedPods: 3 }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'a' },
    spec,
    ...(status === undefined ? {} : { status: { ...counted, ...status } }),
  }
}

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'web-0', labels: { app: 'web' } },
  spec: { containers: [] },
}

describe('the budgets of a pod', () => {
  const covers: Record<string, { selector: LabelSelector | null | undefined; then: boolean }> = {
    'an empty selector covers every pod': { selector: {}, then: true },
    'an absent selector covers none': { selector: undefined, then: false },
    'a null selector covers none': { selector: null, then: false },
    'a selector covers the pods it matches': { selector: { matchLabels: { app: 'web' } }, then: true },
    'a selector does not cover others': { selector: { matchLabels: { app: 'db' } }, then: false },
  }
  for (const [scenario, { selector, then }] of Object.entries(covers)) {
    it(scenario, () => {
      const one = budget({}, (selector === undefined ? {} : { selector }) as PodDisruptionBudget['spec'])
      expect(budgetsOf(pod, [one])).toEqual(then ? [one] : [])
    })
  }
})

it('a budget of another namespace covers nothing, whatever it selects', () => {
  const elsewhere = { ...budget({}, { selector: {} }), metadata: { namespace: 'bank', name: 'a' } }
  expect(budgetsOf(pod, [elsewhere])).toEqual([])
})

describe('no budget is asked about a pod', () => {
  const cases: Record<string, { given: Pod; then: boolean }> = {
    'that has not started': { given: { ...pod, status: { phase: 'Pending' } }, then: true },
    'that has succeeded': { given: { ...pod, status: { phase: 'Succeeded' } }, then: true },
    'that has failed': { given: { ...pod, status: { phase: 'Failed' } }, then: true },
    'that is leaving': {
      given: {
        ...pod,
        metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
        status: { phase: 'Running' },
      },
      then: true,
    },
    '... but one that runs is guarded': { given: { ...pod, status: { phase: 'Running' } }, then: false },
    '... and so is one whose node has fallen silent': { given: { ...pod, status: { phase: 'Unknown' } }, then: false },
  }
  it.each(Object.entries(cases))('%s', (_scenario, { given, then }) => expect(isOutsideBudgets(given)).toBe(then))
})

describe('an unready pod', () => {
  const healthy = (currentHealthy: number, desiredHealthy: number): Partial<Status> => ({
    currentHealthy,
    desiredHealthy,
  })
  const verdicts: Record<
    string,
    { given: Partial<Status> | undefined; spec?: PodDisruptionBudget['spec']; then: boolean }
  > = {
    'goes uncounted when enough others are healthy': { given: healthy(3, 3), then: true },
    'is counted while too few others are healthy': { given: healthy(2, 3), then: false },
    'is counted when the budget wants nobody healthy': { given: healthy(0, 0), then: false },
    'is counted while nobody has counted for the budget': { given: undefined, then: false },
    'goes uncounted when its budget always allows it': {
      given: healthy(0, 3),
      spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      then: true,
    },
    'is counted under IfHealthyBudget while too few others are healthy': {
      given: healthy(2, 3),
      spec: { unhealthyPodEvictionPolicy: 'IfHealthyBudget' },
      then: false,
    },
  }
  for (const [scenario, { given, spec = {}, then }] of Object.entries(verdicts)) {
    it(scenario, () => expect(mayEvictUnready(budget(given, spec))).toBe(then))
  }
})
