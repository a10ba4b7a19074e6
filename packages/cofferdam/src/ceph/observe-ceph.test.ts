import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { describe, expect, it } from 'vitest'
import type { CephCommand } from './ceph-commands.ts'
import { observeCeph } from './observe-ceph.ts'
import { parseCrush } from './parse-crush.ts'
import { parsePgText } from './pg-parser.ts'
import { readSample, readSampleText } from './testing/read-sample.ts'
import { sampleCrushDump } from './testing/sample-crush.ts'
import { scriptCeph } from './testing/scripted-ceph.ts'

const osdDump = readSample('healthy-osd-dump') as { epoch: number; pools: readonly { pg_num: number }[] }
const pgText = readSampleText('healthy-pg-dump-pgs_brief')

function dumpAt(epoch: number, more: object = {}): string {
  return JSON.stringify({ ...osdDump, epoch, ...more })
}

function answer(command: CephCommand, dump = dumpAt(39)): string {
  if (command.prefix === 'osd dump') return dump
  return command.prefix === 'pg dump' ? `\n${pgText}` : JSON.stringify(sampleCrushDump)
}

/** A Ceph whose map has these epochs, one after the other, each time it is asked. */
function cephAtEpochs(...epochs: readonly number[]) {
  let reads = 0
  return scriptCeph((command) => {
    if (command.prefix !== 'osd dump') return answer(command)
    reads += 1
    return dumpAt(epochs[Math.min(reads, epochs.length) - 1] ?? 0)
  })
}

describe('Ceph at one epoch', () => {
  it('is read whole, with the map before and after the rest', async () => {
    const ceph = cephAtEpochs(39)
    const pgs = parsePgText(pgText)
    const crush = parseCrush(sampleCrushDump)
    expect(await observeCeph(ceph)).toEqual({
      known: true,
      value: {
        fsid: '11111111-2222-3333-4444-555555555555',
        epoch: 39,
        osds: [
          { id: 0, isUp: true, isIn: true, upFrom: 19, downAt: 0 },
          { id: 1, isUp: true, isIn: true, upFrom: 20, downAt: 0 },
        ],
        pools: [
          { id: 1, name: 'rep', kind: 'replicated', size: 3, minSize: 2, crushRuleId: 0 },
          { id: 2, name: 'ec', kind: 'erasure', size: 3, minSize: 2, crushRuleId: 2 },
        ],
        crush: crush.known && crush.value,
        pgs: pgs.known && pgs.value,
        flags: ['sortbitwise', 'recovery_deletes', 'purged_snapdirs', 'pglog_hardlimit'],
        requiredRelease: 'pacific',
        bucketFlags: {},
      },
    })
    expect(ceph.asked).toEqual([
      { prefix: 'osd dump' },
      { prefix: 'osd crush dump' },
      { prefix: 'pg dump', dumpcontents: ['pgs'] },
      { prefix: 'osd dump' },
    ])
  })

  it('is read again from the newer map when the map moved in between', async () => {
    const ceph = cephAtEpochs(39, 40, 40)
    expect(await observeCeph(ceph)).toMatchObject({ known: true, value: { epoch: 40 } })
    const rest = ['osd crush dump', 'pg dump', 'osd dump']
    expect(ceph.asked.map(({ prefix }) => prefix)).toEqual(['osd dump', ...rest, ...rest])
  })

  it('is the newest map when it never stands still, so that an update of many OSDs is not blind until all are back', async () => {
    const ceph = cephAtEpochs(1, 2, 3, 4, 5, 6, 7, 8)
    expect(await observeCeph(ceph)).toMatchObject({ known: true, value: { epoch: 4 } })
    expect(ceph.asked.at(-1)).toEqual({ prefix: 'osd dump' })
  })

  it('is unknown when pools change all the time: a floor might be another than the one that was read', async () => {
    let reads = 0
    const ceph = scriptCeph((command) => {
      if (command.prefix !== 'osd dump') return answer(command)
      reads += 1
      const pools = osdDump.pools.map((pool) => ({ ...pool, min_size: 1 + (reads % 2) }))
      return dumpAt(40 + reads, { pools })
    })
    expect(await observeCeph(ceph)).toEqual({
      known: false,
      why: 'the pools of the OSD map changed during the last of 3 attempts to read it at one epoch',
    })
  })

  it('asks for the short table from 2,000 PGs on: the JSON of 8,192 took 100 MiB each time that it was parsed', async () => {
    const [rep, ...others] = osdDump.pools
    const dump = dumpAt(39, { pools: [{ ...rep, pg_num: 2_048 }, ...others] })
    const ceph = scriptCeph((command) => answer(command, dump))
    await observeCeph(ceph)
    expect(ceph.asked[2]).toEqual({ prefix: 'pg dump', dumpcontents: ['pgs'], format: 'plain' })
  })

  it('is unknown while a table for people comes with the warning that OSDs have yet to report', async () => {
    const err = 'Warning: due to ceph-mgr restart, some PG states may not be up to date\ndumped pgs'
    const out = readSampleText('healthy-pg-dump-pgs-plain', 'txt')
    const ceph = scriptCeph((command) => (command.prefix === 'pg dump' ? { code: 0, out, err } : answer(command)))
    expect(await observeCeph(ceph)).toEqual({
      known: false,
      why: 'the manager has just started, and not all OSDs have reported to it',
    })
  })

  it('reads PGs from bytes where the client gives them, and never makes text of these', async () => {
    const bytes = [new TextEncoder().encode(pgText)]
    const inBytes = {
      code: 0,
      get out(): string {
        throw new Error('text was asked for')
      },
      err: '',
      bytes,
    }
    const ceph = scriptCeph((command) => (command.prefix === 'pg dump' ? inBytes : answer(command)))
    expect(await observeCeph(ceph)).toEqual(await observeCeph(cephAtEpochs(39)))
  })

  it('leaves the parsing of PGs to whom it is told', async () => {
    const why = 'too busy'
    const parse = () => Promise.resolve({ known: false as const, why })
    expect(await observeCeph(cephAtEpochs(39), { parse })).toEqual({ known: false, why })
  })
})

describe('Ceph is unknown', () => {
  const silent = new CofferdamError('CEPH_UNREACHABLE', 'no answer within 15 s')
  const refused = { code: 13, out: '', err: 'access denied\n' }
  const cases: Record<string, { when: string; says: string | Error | typeof refused; why: string }> = {
    'when it does not answer': { when: 'osd dump', says: silent, why: 'no answer within 15 s' },
    'when the manager does not answer': { when: 'pg dump', says: silent, why: 'no answer within 15 s' },
    'when we may not ask': {
      when: 'osd crush dump',
      says: refused,
      why: 'osd crush dump ended with 13: access denied',
    },
    'when the answer is cut off': {
      when: 'osd dump',
      says: '{"epoch":',
      why: 'the answer to osd dump cannot be used: it is no whole JSON (9 characters)',
    },
    'when a rule that a pool uses is not described': {
      when: 'osd crush dump',
      says: JSON.stringify({ ...sampleCrushDump, rules: sampleCrushDump.rules.slice(0, 1) }),
      why: 'pool ec uses CRUSH rule 2, which osd crush dump does not describe',
    },
    'when the manager lists fewer PGs than the pools have, as after its restart': {
      when: 'pg dump',
      says: JSON.stringify((readSample('healthy-pg-dump-pgs_brief') as { pg_stats: unknown[] }).pg_stats.slice(1)),
      why: 'pool rep has 32 placement groups, but pg dump lists 31 of them',
    },
  }
  it.each(Object.entries(cases))('%s', async (_, { when, says, why }) => {
    const ceph = scriptCeph((command) => (command.prefix === when ? says : answer(command)))
    expect(await observeCeph(ceph)).toEqual({ known: false, why })
  })

  it('but a bug is thrown, not taken for silence', async () => {
    const bug = new TypeError('undefined is not a function')
    await expect(observeCeph(scriptCeph(() => bug))).rejects.toBe(bug)
  })
})
