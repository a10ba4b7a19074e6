import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../test/property-runs.ts'
import type { Parsed } from './parsed.ts'
import { ListReader } from './read-lists.ts'

interface Item {
  readonly name: string
  readonly isReadable: boolean
}

const pool: readonly Item[] = Array.from({ length: 8 }, (_, at) => ({ name: `item-${at}`, isReadable: at % 4 !== 3 }))
const readable = pool.filter(({ isReadable }) => isReadable)
/** Mostly lists that can be read as a whole, as nearly all are. */
const list = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...readable), { maxLength: 6 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...pool), { maxLength: 6 }) },
)

function parse({ name, isReadable }: Item, stamp: number): Parsed<string> {
  return isReadable ? { view: `${name} at ${stamp}` } : { unreadable: { object: name, why: `bad at ${stamp}` } }
}

it('a list that is read again and again comes out as if it were read for the first time', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(list, fc.constantFrom(1, 1, 1, 2)), { minLength: 1, maxLength: 8 }), (rounds) => {
      const reader = new ListReader<Item, string>()
      for (const [items, stamp] of rounds) {
        const again = reader.read(items, [stamp], (item) => parse(item, stamp))
        const anew = new ListReader<Item, string>().read(items, [stamp], (item) => parse(item, stamp))
        expect(again).toEqual(anew)
        expect(again.views).toEqual(
          items.filter(({ isReadable }) => isReadable).map(({ name }) => `${name} at ${stamp}`),
        )
      }
    }),
    { numRuns: runsOf(500) },
  )
})

it('what was handed out is not changed by what is read later', () => {
  const reader = new ListReader<Item, string>()
  const [first, second] = readable as [Item, Item]
  const handedOut = reader.read([first, first], [], (item) => parse(item, 1))
  reader.read([first, second], [], (item) => parse(item, 1))
  expect(handedOut.views).toEqual(['item-0 at 1', 'item-0 at 1'])
})
