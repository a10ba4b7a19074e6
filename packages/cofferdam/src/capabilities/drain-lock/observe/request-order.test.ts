import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { RequestOrder } from './request-order.ts'

it('requests are in the order in which they were made, whatever comes and goes', () => {
  const event = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    createdMs: fc.nat(3),
    isOver: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const order = new RequestOrder()
      const alive = new Map<string, number>()
      for (const { name, createdMs, isOver } of events) {
        if (isOver) {
          order.remove(name)
          alive.delete(name)
        } else {
          order.add({ name, createdMs })
          alive.set(name, createdMs)
        }
        const expected = [...alive].sort(([a, aMs], [b, bMs]) => aMs - bMs || (a < b ? -1 : 1)).map(([each]) => each)
        expect([...order.first(10)]).toEqual(expected)
        expect(expected.map((each) => order.aheadOf(each))).toEqual(expected.map((_, index) => index))
        expect(order.at(1)).toBe(expected[1])
      }
    }),
    { numRuns: runsOf(200) },
  )
})
