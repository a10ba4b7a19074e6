import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePgBytes, parsePgText } from './pg-parser.ts'
import { readSampleText } from './testing/read-sample.ts'
import { textBlocks } from './text-blocks.ts'

const table = readSampleText('host-r0h0-down-pg-dump-pgs-plain', 'txt')
const printed: Record<string, string> = {
  'the table': table,
  'the table, without its notes': table.slice(0, table.indexOf('\n\n')),
  'the table, after empty lines and with carriage returns': `\n \n${table.replaceAll('\n', '\r\n')}`,
  'the table, with states that are not ASCII': table.replaceAll('active', 'aktiv-größer-€-😀'),
  'the table, with a row that cannot be read': table.replace('[', '{'),
  'the table, cut off': table.slice(0, 3000),
  'JSON in one line': JSON.stringify(JSON.parse(readSampleText('healthy-pg-dump-pgs_brief'))),
  'JSON in many lines': JSON.stringify(JSON.parse(readSampleText('healthy-pg-dump-pgs_brief')), null, 1),
  'JSON, cut off': `\n\n${readSampleText('healthy-pg-dump-pgs_brief').slice(0, -20)}`,
  'nothing but empty lines': ' \n\n',
  nothing: '',
}

/** The bytes cut at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const borders = places.map((place) => place % (bytes.length + 1)).sort((left, right) => left - right)
  return [0, ...borders].map((start, at) => bytes.subarray(start, borders[at] ?? bytes.length))
}

const places = fc.array(fc.nat(), { maxLength: 12 })

describe('bytes of pg dump, wherever they are cut', () => {
  it.each(Object.entries(printed))('read as their text does: %s', (_, text) => {
    const bytes = new TextEncoder().encode(text)
    const expected = parsePgText(text)
    fc.assert(
      fc.property(places, (cuts) => {
        expect(parsePgBytes(cut(bytes, cuts))).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })

  it('read as their text does even byte by byte', () => {
    const bytes = new TextEncoder().encode(printed['the table, with states that are not ASCII'])
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(parsePgBytes(single)).toEqual(parsePgText(new TextDecoder().decode(bytes)))
  })

  it('read as their text does whatever they are, also when that is no UTF-8', () => {
    const byte = fc.oneof(fc.constantFrom(10, 32, 0xc3, 0xa4, 0xe2, 0x82, 0xac), fc.nat(255))
    const garbage = fc.array(byte, { maxLength: 80 }).map((bytes) => Uint8Array.from(bytes))
    fc.assert(
      fc.property(garbage, places, fc.boolean(), (tail, cuts, isTable) => {
        const head = isTable ? 'PG_STAT STATE REPORTED UP ACTING\n1.1 active 4:5 [1,2] [1]\n' : ''
        const bytes = Buffer.concat([Buffer.from(head), tail])
        const text = bytes.toString('utf8')
        expect([...textBlocks(cut(bytes, cuts))].join('')).toBe(text)
        expect(parsePgBytes(cut(bytes, cuts))).toEqual(parsePgText(text))
      }),
      { numRuns: 500 },
    )
  })
})
