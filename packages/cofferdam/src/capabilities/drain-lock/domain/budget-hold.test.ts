import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  disruptedUntilMs,
  formatBudgetHold,
  loweredSpec,
  parseBudgetHold,
  reservedStatus,
  restoredSpec,
  unreservedStatus,
} from './budget-hold.ts'
import type { BudgetHold } from './snapshot.ts'
import { minutes, nowMs } from './testing/fixture.ts'

type Status = NonNullable<PodDisruptionBudget['status']>

const status: Status = { disruptionsAllowed: 2, currentHealthy: 4, desiredHealthy: 2, expectedPods: 4 }
const untilMs = nowMs + minutes(10)
const ahead = '2026-01-01T12:08:00Z'
const hold: BudgetHold = { requestId: 'R1', request: 'reboot-a', epoch: 3, untilMs, reason: 'kernel' }

describe('taking disruptions from the status of a budget', () => {
  const cases: Record<string, { given: Status; pods: string[]; then: Status | undefined }> = {
    'one per pod, dated so that they count until the time that was asked for': {
      given: status,
      pods: ['web-0', 'web-1'],
      then: { ...status, disruptionsAllowed: 0, disruptedPods: { 'web-0': ahead, 'web-1': ahead } },
    },
    'more pods than can be spared: none is taken': { given: status, pods: ['a', 'b', 'c'], then: undefined },
    'a pod that stands there already is dated anew and costs nothing more': {
      given: { ...status, disruptionsAllowed: 0, disruptedPods: { 'web-0': '2026-01-01T12:00:00Z', x: 'kept' } },
      pods: ['web-0'],
      then: { ...status, disruptionsAllowed: 0, disruptedPods: { 'web-0': ahead, x: 'kept' } },
    },
    'one stands there and one does not: only the new one costs': {
      given: { ...status, disruptionsAllowed: 0, disruptedPods: { 'web-0': ahead } },
      pods: ['web-0', 'web-1'],
      then: undefined,
    },
    'a pod named twice is one pod': {
      given: status,
      pods: ['web-0', 'web-0'],
      then: { ...status, disruptionsAllowed: 1, disruptedPods: { 'web-0': ahead } },
    },
  }
  it.each(Object.entries(cases))('%s', (_sentence, { given, pods, then }) => {
    expect(reservedStatus(given, pods, untilMs)).toEqual(then)
  })

  it('a stalled process that is late does not cut short what its successor has taken, or the budget would spare the pod twice', () => {
    const taken = { ...status, disruptionsAllowed: 1, disruptedPods: { 'web-0': ahead } }
    expect(reservedStatus(taken, ['web-0'], nowMs)).toEqual(taken)
    expect(reservedStatus(taken, ['web-0', 'web-1'], untilMs - minutes(1))).toEqual({
      ...taken,
      disruptionsAllowed: 0,
      disruptedPods: { 'web-0': ahead, 'web-1': '2026-01-01T12:07:00Z' },
    })
  })

  it('what was taken is read back with the time until which it counts', () => {
    expect(disruptedUntilMs(reservedStatus(status, ['web-0'], untilMs))).toEqual({ 'web-0': untilMs })
    expect(disruptedUntilMs(undefined)).toEqual({})
    expect(disruptedUntilMs({ ...status, disruptedPods: { x: 'nonsense' } })).toEqual({})
  })

  it('giving back leaves the pods of others, and counts nothing by itself', () => {
    const taken = { ...status, disruptionsAllowed: 0, disruptedPods: { 'web-0': ahead, 'web-9': ahead } }
    expect(unreservedStatus(taken, ['web-0'])).toEqual({ ...taken, disruptedPods: { 'web-9': ahead } })
    expect(unreservedStatus(status, ['web-0'])).toBe(status)
  })
})

describe('lowering the budget itself', () => {
  const selector = { matchLabels: { app: 'web' } }
  const lowered = { selector, maxUnavailable: 0 }

  it.each<[string, PodDisruptionBudget['spec']]>([
    ['a count of those that may be missing', { selector, maxUnavailable: 1 }],
    ['a share of those that must be there', { selector, minAvailable: '50%' }],
    ['nothing at all', { selector }],
  ])('what it allowed is remembered and comes back: %s', (_sentence, spec) => {
    const locked = loweredSpec(spec, undefined)
    expect(locked.spec).toEqual(lowered)
    expect(restoredSpec(locked.spec, locked.formerLimit)).toEqual(spec)
  })

  it('lowered twice, it still remembers the first', () => {
    const formerLimit = { maxUnavailable: 1 }
    expect(loweredSpec(lowered, { ...hold, formerLimit })).toEqual({ spec: lowered, formerLimit })
  })

  it('what somebody changed meanwhile is theirs, and stays', () => {
    const theirs = { selector, maxUnavailable: 2 }
    expect(restoredSpec(theirs, { maxUnavailable: 1 })).toBe(theirs)
    expect(loweredSpec(theirs, { ...hold, formerLimit: { maxUnavailable: 1 } }).formerLimit).toEqual({
      maxUnavailable: 2,
    })
  })
})

describe('the mark on a budget', () => {
  it('says what it was made of', () => {
    const marks: BudgetHold[] = [hold, { ...hold, formerLimit: { minAvailable: '50%' } }, { ...hold, formerLimit: {} }]
    for (const mark of marks) expect(parseBudgetHold(formatBudgetHold(mark))).toEqual({ hold: mark })
  })

  it.each([
    ['no annotation', undefined, {}],
    ['no JSON', 'me', { problem: 'annotation cofferdam.io/held-by is not JSON' }],
    ['no object', '[]', { problem: 'annotation cofferdam.io/held-by is no JSON object' }],
    [
      'no epoch',
      '{"requestId":"R1"}',
      { problem: 'annotation cofferdam.io/held-by lacks a requestId, an epoch or an end' },
    ],
  ])('%s is nobody’s', (_sentence, text, then) => expect(parseBudgetHold(text)).toEqual(then))

  it('nothing is thrown, whatever somebody wrote', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const { hold: mark, problem } = parseBudgetHold(text)
        expect(mark === undefined).toBe(problem !== undefined)
      }),
    )
  })
})

it('a mark whose request or reason is no text is kept without them: it would hold nobody, and the pods that stay count on it', () => {
  const text = JSON.stringify({ requestId: 'R1', epoch: 3, until: '2026-01-01T12:10:00Z', request: 7, reason: null })
  expect(parseBudgetHold(text)).toEqual({ hold: { ...hold, request: '', reason: '' } })
})
