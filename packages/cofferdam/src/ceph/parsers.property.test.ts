import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonText } from './json-shape.ts'
import { parseCrush, parseCrushRules } from './parse-crush.ts'
import { parseOkToStop } from './parse-ok-to-stop.ts'
import { parseOkToUpgrade } from './parse-ok-to-upgrade.ts'
import { parseOsdDump } from './parse-osd-dump.ts'
import { parseOsdMetadata } from './parse-osd-metadata.ts'
import { parseOsdTree } from './parse-osd-tree.ts'
import { parsePgDump } from './parse-pg-dump.ts'
import { parsePgListing } from './parse-pg-listing.ts'
import { parsePoolDetail } from './parse-pool-detail.ts'
import { parseQuorum } from './parse-quorum.ts'
import { parseStatus } from './parse-status.ts'
import { parsePgText } from './pg-parser.ts'
import { readSample, readSampleText } from './testing/read-sample.ts'
import { sampleCrushDump } from './testing/sample-crush.ts'

const parsers: Record<string, { parse: (json: unknown) => { known: boolean }; whole: unknown }> = {
  'osd dump': { parse: parseOsdDump, whole: readSample('flags-osd-dump') },
  'osd crush dump': { parse: parseCrush, whole: sampleCrushDump },
  'osd crush rule dump': {
    parse: (json) => parseCrushRules(json, ['osd', 'host']),
    whole: readSample('osd-crush-rule-dump'),
  },
  'osd tree': { parse: parseOsdTree, whole: readSample('healthy-osd-tree') },
  'osd pool ls detail': { parse: parsePoolDetail, whole: readSample('osd-pool-ls-detail') },
  'pg dump': { parse: parsePgDump, whole: readSample('pg-dump-pgs-one') },
  status: { parse: parseStatus, whole: readSample('osd0-down-status') },
  quorum_status: { parse: parseQuorum, whole: readSample('quorum-status') },
  'osd metadata': { parse: parseOsdMetadata, whole: [readSample('osd-metadata-0')] },
  'osd ok-to-stop': {
    parse: (json) => parseOkToStop({ code: 0, out: JSON.stringify(json) ?? '', err: '' }, [0, 1, 2]),
    whole: readSample('ok-to-stop-3-notok'),
  },
  'osd ok-to-upgrade': {
    parse: (json) => parseOkToUpgrade({ code: 0, out: JSON.stringify(json) ?? '', err: '' }),
    whole: readSample('tentacle-ok-to-upgrade-host'),
  },
}

/** The value with one thing in it, somewhere, replaced. */
function withOneReplaced(value: unknown, path: readonly number[], replacement: unknown): unknown {
  if (typeof value !== 'object' || value === null || path.length === 0) return replacement
  const fields = Object.keys(value)
  const [step = 0, ...rest] = path
  const field = fields[step % Math.max(1, fields.length)]
  if (field === undefined) return replacement
  const changed = withOneReplaced((value as Record<string, unknown>)[field], rest, replacement)
  return Array.isArray(value) ? value.with(Number(field), changed) : { ...value, [field]: changed }
}

describe.each(Object.entries(parsers))('the parser of %s', (_, { parse, whole }) => {
  it('takes what a real Ceph says', () => {
    expect(parse(whole).known).toBe(true)
  })

  it('answers known or unknown to any JSON, and never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (json) => {
        expect(typeof parse(json).known).toBe('boolean')
      }),
    )
  })

  it('answers known or unknown when one thing in a real answer is something else', () => {
    const place = fc.array(fc.nat(40), { minLength: 0, maxLength: 5 })
    fc.assert(
      fc.property(place, fc.jsonValue({ maxDepth: 2 }), (path, replacement) => {
        expect(typeof parse(withOneReplaced(whole, path, replacement)).known).toBe('boolean')
      }),
      { numRuns: 300 },
    )
  })
})

describe('text that was cut off', () => {
  const text = readSampleText('healthy-pg-dump-pgs_brief').trim()

  it('is never a part of the truth', () => {
    fc.assert(
      fc.property(fc.nat(text.length - 1), (length) => {
        expect(parsePgText(text.slice(0, length)).known).toBe(false)
        expect(parseJsonText('pg dump', text.slice(0, length)).known).toBe(false)
      }),
    )
  })

  it('and any other text is read without a throw', () => {
    fc.assert(
      fc.property(fc.string(), (garbage) => {
        expect(typeof parsePgText(garbage).known).toBe('boolean')
        expect(typeof parsePgListing(`PG_STAT STATE REPORTED UP ACTING\n${garbage}`).known).toBe('boolean')
      }),
    )
  })

  it('an empty answer says that it is empty', () => {
    expect(parseJsonText('status', '\n')).toEqual({
      known: false,
      why: 'the answer to status cannot be used: it is empty',
    })
  })
})
