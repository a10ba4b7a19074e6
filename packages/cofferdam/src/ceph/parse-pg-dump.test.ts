import { describe, expect, it } from 'vitest'
import { noOsd, type PgTable } from '../safety/ceph-map.ts'
import { parsePgDump } from './parse-pg-dump.ts'
import { readSample } from './testing/read-sample.ts'

interface Row {
  readonly pgid: string
  readonly state: string
  readonly up: readonly number[]
  readonly acting: readonly number[]
  readonly reported_epoch: number
}

/** The brief dump names no epoch. */
type PrintedRow = Omit<Row, 'reported_epoch'> & { readonly reported_epoch?: number }

/** The columns as rows again. */
function rowsOf(table: PgTable): readonly Row[] {
  return [...Array(table.count).keys()].map((row) => ({
    pgid: `${table.poolIds[row]}.${table.pgNumbers[row]?.toString(16)}`,
    state: table.stateNames[table.states[row] ?? -1] ?? '',
    up: Array.from(table.up.subarray(table.upOffsets[row], table.upOffsets[row + 1])),
    acting: Array.from(table.acting.subarray(table.offsets[row], table.offsets[row + 1])),
    reported_epoch: table.reportedEpochs[row] ?? -1,
  }))
}

describe('pg dump of a real Ceph', () => {
  const names = [
    'healthy-pg-dump-pgs',
    'healthy-pg-dump-pgs_brief',
    'osd0-down-pg-dump-pgs_brief',
    'host-r0h0-down-pg-dump-pgs_brief',
    'recovering-pg-dump-pgs_brief',
    'tentacle-healthy-pg-dump-pgs_brief',
    'pg-dump-pgs-one',
  ]
  it.each(names)('%s loses no PG, no member and no state', (name) => {
    const sample = readSample(name) as { pg_stats: readonly PrintedRow[] }
    const rows = sample.pg_stats.map(({ pgid, state, up, acting, reported_epoch = 0 }) => {
      return { pgid, state, up, acting, reported_epoch }
    })
    const table = parsePgDump(sample)
    expect(table.known && rowsOf(table.value)).toEqual(rows)
    const bare = parsePgDump(sample.pg_stats)
    expect(bare).toEqual(table)
  })

  it('a missing shard keeps its slot in an erasure-coded PG, and a missing copy leaves none', () => {
    const table = parsePgDump(readSample('osd0-down-pg-dump-pgs_brief'))
    const rows = table.known ? rowsOf(table.value) : []
    expect(rows.find(({ pgid }) => pgid === '1.19')?.acting).toEqual([8, 2])
    expect(rows.find(({ pgid }) => pgid === '2.f')?.acting).toContain(noOsd)
  })

  it('the full dump and the brief one tell of the same members', () => {
    const [full, brief] = ['healthy-pg-dump-pgs', 'healthy-pg-dump-pgs_brief'].map((name) => {
      const table = parsePgDump(readSample(name))
      const rows = table.known ? rowsOf(table.value) : []
      return new Map(rows.map(({ pgid, up, acting }) => [pgid, { up, acting }]))
    })
    expect(full).toEqual(brief)
  })

  it('the full dump says with which map each PG was reported, and the brief one counts as older than any change', () => {
    const full = parsePgDump(readSample('healthy-pg-dump-pgs'))
    const brief = parsePgDump(readSample('healthy-pg-dump-pgs_brief'))
    expect(full.known && new Set(full.value.reportedEpochs)).toEqual(new Set([43]))
    expect(brief.known && new Set(brief.value.reportedEpochs)).toEqual(new Set([0]))
  })
})

describe('a pg dump that lacks something', () => {
  const pg = { pgid: '1.1b', state: 'active+clean', up: [0, 1], acting: [0, 1], reported_epoch: '12' }
  const cases: Record<string, { given: unknown; why: string }> = {
    'a manager that has just started does not know all PGs': {
      given: { pg_ready: false, pg_stats: [pg] },
      why: 'pg_ready is false: the manager has not heard from all OSDs yet',
    },
    'a wrapper around nothing has no PGs to judge': { given: { pg_ready: true }, why: 'pg_stats is missing' },
    'a number is no dump': { given: 7, why: 'pg dump is not a list' },
    'a PG that cannot be named makes all unknown': {
      given: [pg, { ...pg, pgid: '1' }],
      why: 'pg_stats[1].pgid is not of the form 1.1b',
    },
    'a PG without state may be anything': { given: [{ ...pg, state: 3 }], why: 'pg_stats[0].state is not text' },
    'a PG without members would count as touched by nothing': {
      given: [{ ...pg, acting: undefined }],
      why: 'pg_stats[0].acting is missing',
    },
    'a member that is no OSD cannot be counted': { given: [{ ...pg, up: [0, -1] }], why: 'pg_stats[0].up is negative' },
    'a member larger than any OSD cannot be kept': {
      given: [{ ...pg, up: [2 ** 31] }],
      why: 'pg_stats[0].up names an OSD that cannot be',
    },
  }
  it.each(Object.entries(cases))('%s', (_, { given, why }) => {
    expect(parsePgDump(given)).toEqual({ known: false, why: `the answer to pg dump cannot be used: ${why}` })
  })

  it('no PGs at all is a table without rows, and long member lists are kept whole', () => {
    const wide = { ...pg, acting: [...Array(20).keys()], up: [] }
    const table = parsePgDump([wide, wide])
    expect(table.known && rowsOf(table.value)).toEqual(Array(2).fill({ ...wide, reported_epoch: 12 }))
    expect(parsePgDump([])).toMatchObject({ known: true, value: { count: 0, stateNames: [] } })
  })
})
