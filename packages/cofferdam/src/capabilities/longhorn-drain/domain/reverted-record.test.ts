import { expect, it } from 'vitest'
import { namesText } from './names-text.ts'
import { buildRevertedRecord, parseRevertedRecord } from './reverted-record.ts'

const atMs = Date.parse('2026-11-15T08:00:00Z')

it('what others undid is reported for an hour, and then no more', () => {
  const text = buildRevertedRecord({ atMs, says: 'a script lowered the flag' })
  expect([parseRevertedRecord(text, atMs + 60_000), parseRevertedRecord(text, atMs + 3_600_000)]).toEqual([
    { atMs, says: 'a script lowered the flag' },
    undefined,
  ])
})

it.each(['{', 'null', '{}', '{"at":7,"says":"x"}', '{"at":"2026-11-15T08:00:00Z"}', 7])(
  'what is no such record is passed over: %j',
  (text) => {
    expect(parseRevertedRecord(text, atMs)).toBeUndefined()
  },
)

it('of many names three are said, in order, and the others counted', () => {
  expect([namesText(['b', 'a']), namesText(['d', 'b', 'a', 'e', 'c'])]).toEqual(['a, b', 'a, b, c and 2 more'])
})
