import { expect, it } from 'vitest'
import { idRanges } from './id-ranges.ts'

it.each<[string, number[], number | undefined, string]>([
  ['none are nothing', [], undefined, ''],
  ['one is itself', [7], undefined, '7'],
  ['two neighbours are no shorter as a range', [3, 4], undefined, '3, 4'],
  ['neighbours are told as one', [0, 1, 2, 3, 7, 9, 10, 11], undefined, '0-3, 7, 9-11'],
  ['order and repetition do not matter', [3, 1, 2, 2, 9], undefined, '1-3, 9'],
  ['beyond what fits on a line the rest is counted, id by id', [0, 1, 2, 5, 8, 9, 10], 2, '0-2, 5 and 3 more'],
])('%s', (_name, ids, most, text) => {
  expect(idRanges(ids, most)).toBe(text)
})
