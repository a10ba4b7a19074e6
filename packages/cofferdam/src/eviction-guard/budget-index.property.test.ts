import { isSelected, type LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BudgetIndex } from './budget-index.ts'
import type { GuardedBudget } from './guarded-objects.ts'

const key = fc.constantFrom('app', 'tier', 'zone')
const value = fc.constantFrom('a', 'b', 'c')
const labels = fc.dictionary(key, value)
const requirement = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.array(value, { minLength: 1 }),
  }),
  fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
)
const selector: fc.Arbitrary<LabelSelector | undefined> = fc.option(
  fc.record(
    { matchLabels: labels, matchExpressions: fc.array(requirement, { maxLength: 2 }) },
    { requiredKeys: [] },
  ) as fc.Arbitrary<LabelSelector>,
  { nil: undefined },
)
const namespace = fc.constantFrom('shop', 'bank')
const budget: fc.Arbitrary<GuardedBudget> = fc.record({
  namespace,
  name: fc.constantFrom('p', 'q', 'r', 's', 't'),
  uid: fc.constant('u'),
  selector,
  isExchanged: fc.constant(false),
  mayHoldStorage: fc.constant(false),
  annotations: fc.constant({}),
})
const change = fc.record({ budget, isGone: fc.boolean() })

const budgetOf = (name: string, chosen: LabelSelector): GuardedBudget => ({
  namespace: 'shop',
  name,
  uid: name,
  selector: chosen,
  isExchanged: false,
  mayHoldStorage: false,
  annotations: {},
})

describe('the index of budgets', () => {
  it('finds exactly the budgets that trying every one of them would find, after any changes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), namespace, labels, (changes, where, podLabels) => {
        const index = new BudgetIndex()
        const held = new Map<string, GuardedBudget>()
        for (const { budget: each, isGone } of changes) {
          const name = `${each.namespace}/${each.name}`
          if (isGone) {
            index.remove(each)
            held.delete(name)
          } else {
            index.put(each)
            held.set(name, each)
          }
        }
        const expected = [...held.values()].filter(
          (each) => each.namespace === where && each.selector !== undefined && isSelected(each.selector, podLabels),
        )
        const found = index.covering(where, podLabels)
        expect(found.known && new Set(found.value)).toEqual(new Set(expected))
        expect(index.size).toBe(held.size)
      }),
    )
  })

  it('tries few of ten thousand budgets that share a label: each is filed under what it alone asks for', () => {
    const index = new BudgetIndex()
    for (let at = 0; at < 10_000; at += 1) {
      index.put(budgetOf(`b-${at}`, { matchLabels: { team: 'red', app: `app-${at}` } }))
    }
    const found = index.covering('shop', { team: 'red', app: 'app-7000' })
    expect(found).toEqual({
      known: true,
      value: [budgetOf('b-7000', { matchLabels: { team: 'red', app: 'app-7000' } })],
    })
  })

  it('says that it does not know rather than try thousands', () => {
    const index = new BudgetIndex()
    for (let at = 0; at < 1_000; at += 1) index.put(budgetOf(`b-${at}`, { matchLabels: { app: 'web' } }))
    expect(index.covering('shop', { app: 'web' })).toEqual({
      known: false,
      why: 'too many budgets of namespace shop ask for the same labels',
    })
    expect(index.covering('shop', { app: 'other' })).toEqual({ known: true, value: [] })
  })
})
