import { describe, expect, it } from 'vitest'
import { desiredWhenFree, type HoldQuestion, judgeBudgetHold } from './judge-budget-hold.ts'
import type { BudgetFacts, BudgetHold } from './snapshot.ts'
import { locked, minutes, nowMs, settings, web } from './testing/fixture.ts'

type Asked = Partial<Omit<HoldQuestion, 'budget'>> & { readonly mode?: HoldQuestion['settings']['mode'] }

function judged(budget: BudgetFacts, { mode = 'reserve', ...asked }: Asked = {}): string {
  const { state, isSafe, reason } = judgeBudgetHold({
    budget,
    pods: ['web-0'],
    requestId: 'R1',
    epoch: 1,
    nowMs,
    settings: { ...settings, mode },
    lockedAtMs: undefined,
    breaksGlass: false,
    isBound: false,
    ...asked,
  })
  return [state, ...(isSafe ? ['safe'] : []), ...(reason === undefined ? [] : [reason])].join(' ')
}

const hold = (more: Partial<BudgetHold> = {}): BudgetHold => ({
  requestId: 'R1',
  request: 'nodedisruption/reboot-a',
  epoch: 1,
  untilMs: nowMs + minutes(9),
  reason: 'kernel',
  ...more,
})
const uncounted = { isCounted: false }
const stale = (budget: BudgetFacts): BudgetFacts => ({ ...budget, disruptedUntilMs: { 'web-0': nowMs + minutes(1) } })

describe('a budget that is held by its status', () => {
  const rows: Record<string, [BudgetFacts, string]> = {
    'is dated again though nobody has counted it: its time would run out meanwhile': [
      stale({ ...locked(), ...uncounted }),
      'lockable',
    ],
    'that is dated ahead is no ground to act on while nobody has counted it': [
      { ...locked(), ...uncounted },
      'refused BudgetNotCounted',
    ],
    'takes nothing more while nobody has counted it': [{ ...web, ...uncounted }, 'refused BudgetNotCounted'],
    'that has none left for the pod is not locked': [{ ...web, disruptionsAllowed: 0 }, 'refused BudgetExhausted'],
    'with fewer healthy pods than it wants is not safe: another one died': [
      { ...locked(), currentHealthy: 1 },
      'locked BudgetExhausted',
    ],
    'is safe when it is counted and enough are healthy': [locked(), 'locked safe'],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [budget, then]) => expect(judged(budget)).toBe(then))
})

describe('a budget that is held by a lowered spec', () => {
  const lowered = (more: Partial<BudgetFacts> = {}, formerLimit: BudgetHold['formerLimit'] = { minAvailable: 2 }) => ({
    ...web,
    disruptionsAllowed: 0,
    desiredHealthy: 3,
    hold: hold(formerLimit === undefined ? {} : { formerLimit }),
    ...more,
  })
  const theirs = { hold: hold({ requestId: 'R2', formerLimit: { minAvailable: 2 } }) }
  const rows: Record<string, [BudgetFacts, string]> = {
    'by us waits to be counted': [lowered(uncounted), 'pending BudgetNotCounted'],
    'by nobody is not touched before it is counted': [{ ...web, ...uncounted }, 'refused BudgetNotCounted'],
    'by nobody can be, where it lets the pod go': [web, 'lockable'],
    'by nobody cannot be, where it lets no pod go': [{ ...web, disruptionsAllowed: 0 }, 'refused BudgetExhausted'],
    'by another request is written again with our mark: its former limit is there': [lowered(theirs), 'lockable'],
    'is safe when nobody is leaving and enough are healthy': [lowered(), 'locked safe'],
    'is not safe while an eviction of another pod is under way': [
      lowered({ disruptedUntilMs: { 'web-1': nowMs + 1 } }),
      'locked BudgetExhausted',
    ],
    'is not safe with too few healthy pods': [lowered({ currentHealthy: 2 }), 'locked BudgetExhausted'],
    'may lose as many as it allowed before, by number': [lowered({}, { maxUnavailable: 1 }), 'locked safe'],
    'may lose none where it allowed none before': [lowered({}, { maxUnavailable: 0 }), 'locked BudgetExhausted'],
    'may lose as many as it allowed before, by percent, rounded up as Kubernetes does': [
      lowered({}, { maxUnavailable: '30%' }),
      'locked safe',
    ],
    'wants as many as before, by percent': [lowered({}, { minAvailable: '67%' }), 'locked BudgetExhausted'],
    'whose former limit cannot be read wants them all: it would lose what it needs': [
      lowered({}, { minAvailable: 'some' }),
      'locked BudgetExhausted',
    ],
    'whose former allowance cannot be read allows none': [
      lowered({}, { maxUnavailable: 'some' }),
      'locked BudgetExhausted',
    ],
    'with no former limit on record wants them all': [lowered({}, {}), 'locked BudgetExhausted'],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [budget, then]) =>
    expect(judged(budget, { mode: 'spec' })).toBe(then),
  )

  it('counts as it was before when others of the node ask how many it allows', () => {
    expect([desiredWhenFree(lowered()), desiredWhenFree(web)]).toEqual([2, 2])
  })
})

describe('a budget that is held by its mark alone', () => {
  const marked = { ...web, hold: hold() }
  const rows: Record<string, [BudgetFacts, Asked, string]> = {
    'is kept by the mark once the node goes': [marked, { isBound: true }, 'locked safe'],
    'is marked again when the mark is gone meanwhile': [web, { isBound: true }, 'lockable'],
    'is not marked before it is counted': [{ ...web, ...uncounted }, {}, 'refused BudgetNotCounted'],
    'is not safe when others died while it settled': [
      { ...marked, currentHealthy: 2 },
      { lockedAtMs: nowMs - settings.settleMs },
      'locked BudgetExhausted',
    ],
    'is safe when it has settled': [marked, { lockedAtMs: nowMs - settings.settleMs }, 'locked safe'],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [budget, asked, then]) => {
    expect(judged(budget, { mode: 'settle', ...asked })).toBe(then)
  })
})
