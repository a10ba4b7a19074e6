import { describe, expect, it } from 'vitest'
import { noOsd } from '../safety/ceph-map.ts'
import { parsePgListing } from './parse-pg-listing.ts'
import { parsePgText } from './pg-parser.ts'
import { readSample, readSampleText } from './testing/read-sample.ts'

interface Pg {
  readonly pgid: string
  readonly state: string
  readonly up: readonly number[]
  readonly acting: readonly number[]
}

const heading = [
  'PG_STAT OBJECTS MISSING_ON_PRIMARY DEGRADED MISPLACED UNFOUND BYTES OMAP_BYTES* OMAP_KEYS* LOG LOG_DUPS DISK_LOG',
  'STATE STATE_STAMP VERSION REPORTED UP UP_PRIMARY ACTING ACTING_PRIMARY LAST_SCRUB SCRUB_SCHEDULING',
].join(' ')

function listing(pgs: readonly Pg[], epoch = 47): string {
  const members = (osds: readonly number[]) => `[${osds.map((osd) => (osd === noOsd ? 'NONE' : osd)).join(',')}]`
  const rows = pgs.map(({ pgid, state, up, acting }) =>
    [
      `${pgid}  40 0 0 0 0 163840 0 0 40 0 40  ${state}  2026-11-15T00:36:19.910104+0000  39'40   ${epoch}:59`,
      `${members(up)}  7  ${members(acting)}  7  0'0  periodic scrub scheduled @ 2026-11-16T08:00:00.000000+0000`,
    ].join('  '),
  )
  return [heading, ...rows, '', '* NOTE: Omap statistics are gathered during deep scrub', ''].join('\n')
}

describe('pg dump as a table for people', () => {
  it('of a real Ceph reads as its JSON of the same moment does', () => {
    const table = parsePgText(readSampleText('healthy-pg-dump-pgs-plain', 'txt'))
    expect(table).toEqual(parsePgText(readSampleText('healthy-pg-dump-pgs')))
    expect(table).toMatchObject({ known: true, value: { count: 64, stateNames: ['active+clean'] } })
  })

  it('of a real Ceph with a host down reads as its JSON does, missing shards included', () => {
    const table = parsePgText(readSampleText('host-r0h0-down-pg-dump-pgs-plain', 'txt'))
    const { pg_stats: pgs } = readSample('host-r0h0-down-pg-dump-pgs_brief') as { pg_stats: readonly Pg[] }
    const brief = parsePgText(JSON.stringify(pgs))
    const membersOf = ({ known: isKnown, ...rest }: typeof table) =>
      isKnown && 'value' in rest ? [rest.value.acting, rest.value.offsets, rest.value.up, rest.value.upOffsets] : rest
    expect(membersOf(table)).toEqual(membersOf(brief))
    expect(table.known && table.value.acting.includes(noOsd)).toBe(true)
  })

  it('of a manager that has just started lists every PG, without state, members or epoch', () => {
    const table = parsePgText(readSampleText('mgr-starting-pg-dump-pgs-plain', 'txt'))
    expect(table).toMatchObject({
      known: true,
      value: { count: 64, stateNames: ['unknown'], acting: new Int32Array(0), reportedEpochs: new Int32Array(64) },
    })
  })

  const names = ['osd0-down-pg-dump-pgs_brief', 'host-r0h0-down-pg-dump-pgs_brief', 'recovering-pg-dump-pgs_brief']
  it.each(names)('%s, printed that way, reads as its JSON does', (name) => {
    const pgs = (readSample(name) as { pg_stats: readonly Pg[] }).pg_stats
    const json = JSON.stringify(pgs.map((pg) => ({ ...pg, reported_epoch: 47 })))
    expect(parsePgText(listing(pgs))).toEqual(parsePgText(json))
  })

  const pg = { pgid: '1.1b', state: 'active+clean', up: [5, 6], acting: [5, 6] }
  const whole = listing([pg, pg])
  const cases: Record<string, { given: string; why: string }> = {
    'a row that was cut off makes all unknown': {
      given: whole.slice(0, whole.lastIndexOf('47:59')),
      why: 'row 2 ends early',
    },
    'a stamp with a space, as old releases print it, moves the columns and is noticed': {
      given: whole.replaceAll('2026-11-15T00', '2026-11-15 00'),
      why: 'row 1 names no OSDs in 47:59',
    },
    'members that are no OSDs cannot be counted': {
      given: whole.replace('[5,6]', '[5,six]'),
      why: 'row 1 names no OSDs in [5,six]',
    },
    'a PG that cannot be named makes all unknown': {
      given: whole.replace('1.1b', '1-1b'),
      why: 'row 1.pgid is not of the form 1.1b',
    },
    'a table without epochs cannot be held against the map': {
      given: whole.replace('REPORTED', 'REPORTS'),
      why: 'the heading has no column REPORTED',
    },
    'nothing has no heading': { given: ' \n', why: 'the heading has no column PG_STAT' },
  }
  it.each(Object.entries(cases))('%s', (_, { given, why }) => {
    expect(parsePgListing(given)).toEqual({ known: false, why: `the answer to pg dump cannot be used: ${why}` })
  })
})
