import { describe, expect, it } from 'vitest'
import { type BudgetVerdict, describeVerdict } from './budget-verdict.ts'
import { explainBudget } from './explain-budget.ts'
import type { BudgetSnapshot } from './judge-budget.ts'
import { budget, osdBudget, osdPod, pod, storageView } from './testing/sample-objects.ts'

const three = [pod('web-1'), pod('web-2'), pod('web-3')]
const none = { disruptionsAllowed: 0 }
const seen = (of: Partial<BudgetSnapshot>): BudgetSnapshot => ({
  budget: budget('web'),
  pods: three,
  storage: [],
  ...of,
})

const cases: Record<string, { given: BudgetSnapshot; then: BudgetVerdict }> = {
  'with room it says how many': {
    given: seen({ budget: budget('web', { disruptionsAllowed: 2 }) }),
    then: { tone: 'calm', says: '2 may go now' },
  },
  'over no pods it is idle': { given: seen({ pods: [] }), then: { tone: 'calm', says: 'Covers no pods' } },
  'below its floor it is an alarm': {
    given: seen({ budget: budget('web', { ...none, currentHealthy: 1 }) }),
    then: { tone: 'alarm', says: 'Blocked: it needs 2 healthy pods and has 1 of 3' },
  },
  'at its floor it waits for a pod to come back': {
    given: seen({ budget: budget('web', { ...none, currentHealthy: 2 }) }),
    then: { tone: 'busy', says: 'Blocked: it needs 2 healthy pods and has 2 of 3' },
  },
  'that never spares one is an alarm: no drain will ever end': {
    given: seen({
      budget: budget('web', { ...none, desiredHealthy: 3 }, { spec: { maxUnavailable: 0 } }),
    }),
    then: {
      tone: 'alarm',
      says: 'Blocked: maxUnavailable is 0 with 3 pods: it never allows an eviction, however healthy they are',
    },
  },
  'of a held zone it says which zone is away; "never allows a disruption" sent people to edit the budget': {
    given: {
      budget: osdBudget('zone-y'),
      pods: [osdPod(2, { zone: 'zone-y', node: 'node-b' })],
      storage: [
        storageView({
          domains: [
            {
              domain: 'zone-y',
              osds: [2],
              nodes: ['node-b'],
              mayDrain: false,
              reason: 'OtherDomainOpen',
              explanation: 'zone-x is being drained',
            },
          ],
        }),
      ],
    },
    then: { tone: 'busy', says: expect.stringContaining('zone-x') },
  },
}

describe('what a budget says to the next eviction', () => {
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(describeVerdict(explainBudget(given))).toEqual(then)
  })
})
