import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { takeDisruption } from './eviction-budget.ts'

type Status = NonNullable<PodDisruptionBudget['status']>

const now = '2026-01-01T00:00:00Z'
const refusalText = "Cannot evict pod as it would violate the pod's disruption budget."

function budget(status: Partial<Status> | undefined): PodDisruptionBudget {
  const counted = {
    disruptionsAllowed: 0,
    currentHealthy: 3,
    desiredHealthy: 3,
    expectedPods: 3,
    observedGeneration: 2,
  }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'a', generation: 2 },
    spec: {},
    ...(status === undefined ? {} : { status: { ...counted, ...status } }),
  }
}

function refused(cause: string, wait: { retryAfterSeconds?: number } = {}) {
  return {
    code: 429,
    reason: 'TooManyRequests',
    message: refusalText,
    details: { causes: [{ reason: 'DisruptionBudget', message: cause }], ...wait },
  }
}

function forbidden(why: string) {
  return {
    code: 403,
    reason: 'Forbidden',
    message: `poddisruptionbudget.policy "a" is forbidden: ${why}`,
    details: { name: 'a', group: 'policy', kind: 'poddisruptionbudget' },
  }
}

const none = { type: 'DisruptionAllowed', status: 'False', lastTransitionTime: now } as const
const unconfirmed = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`gone-${index}`, now]))

const refusals: Record<string, { given: Partial<Status> | undefined; then: object }> = {
  'a budget that allows none says what it needs and has, and names no time to wait': {
    given: {},
    then: refused('The disruption budget a needs 3 healthy pods and has 3 currently'),
  },
  'a budget whose status is older than its spec is still being processed: wait 10 seconds': {
    given: { observedGeneration: 1, disruptionsAllowed: 1 },
    then: refused('The disruption budget a is still being processed by the server.', { retryAfterSeconds: 10 }),
  },
  'a budget that nobody has counted for yet is still being processed': {
    given: undefined,
    then: refused('The disruption budget a is still being processed by the server.', { retryAfterSeconds: 10 }),
  },
  'a budget that could not be computed says why, rather than counts that mean nothing': {
    given: { conditions: [{ ...none, reason: 'SyncFailed', message: 'found no controller' }] },
    then: refused(
      'The disruption budget a does not allow evicting pods currently because it failed sync: found no controller',
    ),
  },
  'a budget whose counts explain nothing repeats what its condition says': {
    given: { currentHealthy: 4, conditions: [{ ...none, reason: 'InsufficientPods', message: 'some are in flight' }] },
    then: refused(
      'The disruption budget a does not allow evicting pods currently (InsufficientPods): some are in flight',
    ),
  },
  'a budget that nothing explains at least says its name': {
    given: { currentHealthy: 4 },
    then: refused('The disruption budget a does not allow evicting pods currently'),
  },
  'a budget that allows less than none is refused with 403': {
    given: { disruptionsAllowed: -1 },
    then: forbidden('pdb disruptions allowed is negative'),
  },
  'a budget with more unconfirmed evictions than anybody can be watching is refused with 403': {
    given: { disruptionsAllowed: 1, disruptedPods: unconfirmed(2001) },
    then: forbidden('DisruptedPods map too big - too many evictions not confirmed by PDB controller'),
  },
}

describe('taking a disruption from a budget', () => {
  for (const [scenario, { given, then }] of Object.entries(refusals)) {
    it(scenario, () => {
      try {
        takeDisruption(budget(given), 'web-0', now)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const { code, reason, message, details } = error
        return expect({ code, reason, message, details }).toEqual(then)
      }
      throw new Error('it was not refused')
    })
  }

  it('takes exactly one and names the pod with the time', () => {
    const before = budget({ disruptionsAllowed: 2, disruptedPods: { 'web-1': now } })
    expect(takeDisruption(before, 'web-0', now)).toEqual({
      ...before,
      status: { ...before.status, disruptionsAllowed: 1, disruptedPods: { 'web-1': now, 'web-0': now } },
    })
  })

  it('of as many unconfirmed evictions as are borne is granted', () => {
    const taken = takeDisruption(budget({ disruptionsAllowed: 2, disruptedPods: unconfirmed(2000) }), 'web-0', now)
    expect(Object.keys(taken.status?.disruptedPods ?? {})).toHaveLength(2001)
  })

  it('that was the last keeps the time since when none were allowed', () => {
    const since = '2025-12-31T00:00:00Z'
    const conditions = [{ ...none, reason: 'Other', lastTransitionTime: since }]
    expect(takeDisruption(budget({ disruptionsAllowed: 1, conditions }), 'web-0', now).status?.conditions).toEqual([
      { ...none, reason: 'InsufficientPods', message: '', observedGeneration: 2, lastTransitionTime: since },
    ])
  })
})
