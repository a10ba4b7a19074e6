import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { barePod, budget } from '../testing/scenario.ts'
import { decideBudgetStatus, failSafeStatus } from './disruption-status.ts'

const now = '2026-01-01T00:10:00Z'
const nowMs = Date.parse(now)
const ago = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString()

function pod(name: string, state: 'ready' | 'unready' | 'terminating' = 'ready'): Pod {
  const bare = barePod(name)
  return {
    ...bare,
    metadata: { ...bare.metadata, ...(state === 'terminating' ? { deletionTimestamp: now } : {}) },
    status: { conditions: [{ type: 'Ready', status: state === 'unready' ? 'False' : 'True' }] },
  }
}

function granted(spec: PodDisruptionBudget['spec'], disruptedPods: Record<string, string>): PodDisruptionBudget {
  const counts = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  return { ...budget('web', spec), status: { ...counts, disruptedPods } }
}

const three = [pod('a'), pod('b'), pod('c')]

interface Case {
  readonly given: PodDisruptionBudget
  readonly pods?: readonly Pod[]
  readonly scale?: number
  readonly then: { expected: number; desired: number; healthy: number; allowed: number; disrupted?: string[] }
}

const cases: Record<string, Case> = {
  'maxUnavailable counts from the scale of the controllers, so one missing pod uses it up': {
    given: budget('web', { maxUnavailable: 1 }),
    pods: [pod('a'), pod('b')],
    scale: 3,
    then: { expected: 3, desired: 2, healthy: 2, allowed: 0 },
  },
  'maxUnavailable in percent rounds up': {
    given: budget('web', { maxUnavailable: '34%' }),
    scale: 3,
    pods: three,
    then: { expected: 3, desired: 1, healthy: 3, allowed: 2 },
  },
  'a maxUnavailable beyond the scale lets all go and asks for none': {
    given: budget('web', { maxUnavailable: 9 }),
    scale: 3,
    pods: three,
    then: { expected: 3, desired: 0, healthy: 3, allowed: 3 },
  },
  'minAvailable as a number counts the selected pods, whatever their controllers want': {
    given: budget('web', { minAvailable: 2 }),
    pods: three,
    scale: 7,
    then: { expected: 3, desired: 2, healthy: 3, allowed: 1 },
  },
  'minAvailable in percent rounds up in favour of the pods': {
    given: budget('web', { minAvailable: '50%' }),
    scale: 3,
    pods: three,
    then: { expected: 3, desired: 2, healthy: 3, allowed: 1 },
  },
  'unready and terminating pods are not healthy, and the budget is never below zero': {
    given: budget('web', { minAvailable: 3 }),
    pods: [pod('a'), pod('b', 'unready'), pod('c', 'terminating')],
    then: { expected: 3, desired: 3, healthy: 1, allowed: 0 },
  },
  'a budget that takes no pod allows nothing, even with nothing to keep': {
    given: budget('web', { minAvailable: 0 }),
    pods: [],
    then: { expected: 0, desired: 0, healthy: 0, allowed: 0 },
  },
  'a granted eviction that has not begun counts as gone': {
    given: granted({ minAvailable: 2 }, { a: ago(5) }),
    pods: three,
    then: { expected: 3, desired: 2, healthy: 2, allowed: 0, disrupted: ['a'] },
  },
  'a granted eviction that has begun is forgotten, for the pod is terminating': {
    given: granted({ minAvailable: 1 }, { c: ago(5) }),
    pods: [pod('a'), pod('b'), pod('c', 'terminating')],
    then: { expected: 3, desired: 1, healthy: 2, allowed: 1 },
  },
  'a granted eviction whose pod has gone is forgotten': {
    given: granted({ minAvailable: 1 }, { z: ago(5) }),
    pods: three,
    then: { expected: 3, desired: 1, healthy: 3, allowed: 2 },
  },
  'a granted eviction that never came lapses after two minutes': {
    given: granted({ minAvailable: 2 }, { a: ago(121) }),
    pods: three,
    then: { expected: 3, desired: 2, healthy: 3, allowed: 1 },
  },
  'a grant dated in the future holds until two minutes after that date': {
    given: granted({ minAvailable: 2 }, { a: ago(-1_800) }),
    pods: three,
    then: { expected: 3, desired: 2, healthy: 2, allowed: 0, disrupted: ['a'] },
  },
}

describe('what a budget allows', () => {
  it.each(Object.entries(cases))('%s', (_, { given, pods = [], scale = 0, then }) => {
    const { status } = decideBudgetStatus({ budget: given, pods, scale, now, nowMs })
    const condition = status.conditions?.[0]
    const { disrupted = [], ...counts } = then
    expect({
      expected: status.expectedPods,
      desired: status.desiredHealthy,
      healthy: status.currentHealthy,
      allowed: status.disruptionsAllowed,
    }).toEqual(counts)
    expect(Object.keys(status.disruptedPods ?? {})).toEqual(disrupted)
    expect([condition?.status, condition?.reason]).toEqual(
      counts.allowed > 0 ? ['True', 'SufficientPods'] : ['False', 'InsufficientPods'],
    )
  })

  it('asks to be looked at again when the first grant lapses, and names the pods that never went', () => {
    const given = granted({ minAvailable: 1 }, { a: ago(100), b: ago(30), c: ago(500) })
    const { recheckAtMs, notDeleted } = decideBudgetStatus({ budget: given, pods: three, scale: 0, now, nowMs })
    expect([recheckAtMs, notDeleted.map(({ metadata }) => metadata.name)]).toEqual([nowMs + 20_000, ['c']])
  })

  it('that cannot be worked out is nothing, and the last counts stay', () => {
    const held = decideBudgetStatus({
      budget: budget('web', { minAvailable: 1 }),
      pods: three,
      scale: 0,
      now,
      nowMs,
    }).status
    const { disruptionsAllowed, currentHealthy, conditions } = failSafeStatus(
      { ...budget('web', { minAvailable: 1 }), status: held },
      'found no controllers for pod "a"',
      now,
    )
    expect([disruptionsAllowed, currentHealthy, conditions?.[0]?.reason]).toEqual([0, 3, 'SyncFailed'])
  })
})
