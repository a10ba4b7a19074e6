import { describe, expect, it } from 'vitest'
import { parseOkToStop, parseStoppable } from './parse-ok-to-stop.ts'
import { parseOsdMetadata } from './parse-osd-metadata.ts'
import { parseQuorum } from './parse-quorum.ts'
import { parseStatus } from './parse-status.ts'
import { readSample, readSampleText, sampleNames } from './testing/read-sample.ts'

describe('status of a real Ceph', () => {
  const clean = { 'active+clean': 64 }
  const cases: Record<string, { health: string; up: number; in?: number; epoch: number; pgs: Record<string, number> }> =
    {
      'healthy-status': { health: 'HEALTH_OK', up: 12, epoch: 39, pgs: clean },
      'stale-status-just-after-down': { health: 'HEALTH_WARN', up: 11, epoch: 47, pgs: clean },
      'osd0-down-status': {
        health: 'HEALTH_WARN',
        up: 11,
        epoch: 47,
        pgs: { 'active+clean': 51, 'active+undersized+degraded': 13 },
      },
      'osd0-out-status': { health: 'HEALTH_OK', up: 11, in: 11, epoch: 97, pgs: clean },
      'tentacle-healthy-status': { health: 'HEALTH_OK', up: 12, epoch: 172, pgs: clean },
    }
  it.each(Object.entries(cases))('%s', (name, { health, up, in: isIn = 12, epoch, pgs }) => {
    expect(parseStatus(readSample(name))).toMatchObject({
      known: true,
      value: { health, osdCount: 12, upOsdCount: up, inOsdCount: isIn, osdEpoch: epoch, pgCount: 64, pgsByState: pgs },
    })
  })

  it.each(sampleNames(/(^|-)status/).filter((name) => name !== 'quorum-status'))('%s counts every PG once', (name) => {
    const status = parseStatus(readSample(name))
    const counts = status.known ? Object.values(status.value.pgsByState) : []
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(64)
  })

  it('releases before Octopus keep the OSD map one level deeper', () => {
    const sample = readSample('healthy-status') as { osdmap: object }
    expect(parseStatus({ ...sample, osdmap: { osdmap: sample.osdmap } })).toEqual(parseStatus(sample))
  })

  it('a status without a mgr says so, for its counts of PGs may be of any age', () => {
    const sample = readSample('healthy-status') as object
    const status = parseStatus({ ...sample, mgrmap: { available: false, num_standbys: 0 } })
    expect([parseStatus(sample), status].map((each) => each.known && each.value.isWithoutMgr)).toEqual([
      undefined,
      true,
    ])
  })

  it('what an administrator has muted is no complaint: it would be told again and again, and hide the others', () => {
    const sample = readSample('healthy-status') as { health: object }
    const checks = { AUTH_INSECURE_KEYS_ALLOWED: { severity: 'HEALTH_WARN', muted: true }, OSD_DOWN: { muted: false } }
    const status = parseStatus({ ...sample, health: { ...sample.health, checks } })
    expect(status.known && status.value.healthChecks).toEqual(['OSD_DOWN'])
  })

  it('a status without its PGs is unknown, and says so', () => {
    const sample = readSample('healthy-status') as object
    expect(parseStatus({ ...sample, pgmap: {} })).toEqual({
      known: false,
      why: 'the answer to status cannot be used: pgmap.num_pgs is missing',
    })
  })
})

describe('quorum_status', () => {
  it('of a real Ceph names its one monitor', () => {
    expect(parseQuorum(readSample('quorum-status'))).toEqual({ known: true, value: { mons: ['a'], inQuorum: ['a'] } })
  })

  it('names by rank who is in and, by their absence, who is not', () => {
    const mons = [
      { rank: 0, name: 'a' },
      { rank: 2, name: 'd' },
      { rank: 1, name: 'c' },
    ]
    expect(parseQuorum({ quorum: [0, 2], monmap: { mons } })).toEqual({
      known: true,
      value: { mons: ['a', 'd', 'c'], inQuorum: ['a', 'd'] },
    })
  })

  it('a rank that nobody has makes it unknown', () => {
    expect(parseQuorum({ quorum: [3], monmap: { mons: [{ name: 'a' }] } })).toEqual({
      known: false,
      why: 'the answer to quorum_status cannot be used: quorum[0] is rank 3, which the monmap does not have',
    })
  })
})

describe('osd ok-to-stop where pools are ignored', () => {
  const refusal = readSample('ok-to-stop-3-notok') as object
  const answer = (report: object, code = 16) => ({ code, out: JSON.stringify(report), err: 'unsafe to stop' })
  const heard = (report: object, pools: readonly number[]) => parseOkToStop(answer(report), [0, 1, 2], new Set(pools))

  it('a no for placement groups of an ignored pool alone is a yes: Ceph does not know what may be lost', () => {
    expect(heard(refusal, [1])).toEqual({ known: true, value: true })
    expect(parseOkToStop(answer(refusal, 0), [0, 1, 2], new Set([1]))).toEqual({ known: true, value: true })
  })

  it.each<[string, object, readonly number[]]>([
    ['for a pool that counts', refusal, [2]],
    ['for one more group that counts', { ...refusal, num_not_ok_pgs: 5, bad_already_inactive: ['2.1'] }, [1]],
    ['for more groups than it names', { ...refusal, num_not_ok_pgs: 5 }, [1]],
    ['about other OSDs', { ...refusal, osds: [0, 1] }, [1]],
    ['that names no group', { ok_to_stop: false, osds: [0, 1, 2], num_ok_pgs: 3, num_not_ok_pgs: 0 }, [1]],
    ['with names that are no groups', { ...refusal, bad_become_inactive: ['1.1', '1.x', '1', '1.2'] }, [1]],
  ])('a no %s stays a no', (_, report, pools) => {
    expect(heard(report, pools)).toEqual({ known: true, value: false })
  })

  it('words without a report are a no, as of releases that name no groups', () => {
    const words = { code: 16, out: '', err: '4 PGs are already too degraded' }
    expect(parseOkToStop(words, [0], new Set([1]))).toEqual({ known: true, value: false })
  })
})

describe('osd ok-to-stop of a real Ceph', () => {
  const yes = { known: true, value: true }
  const no = { known: true, value: false }
  const counted = (ids: string) => ({
    known: false,
    why: `osd ok-to-stop counted no PG on ${ids}: they are down, empty, or do not exist`,
  })
  const cases: Record<string, { ids: readonly number[]; code?: number; then: object }> = {
    'ok-to-stop-single-ok': { ids: [0], then: yes },
    'ok-to-stop-max4-ok': { ids: [0], then: yes },
    'ok-to-stop-3-notok': { ids: [0, 1, 2], code: 16, then: no },
    'ok-to-stop-nonexistent': { ids: [99], then: counted('osd.99') },
    'stale-ok-to-stop-2': { ids: [2], then: yes },
    'osd0-down-ok-to-stop-0': { ids: [0], then: counted('osd.0') },
    'osd0-down-ok-to-stop-1': { ids: [1], then: yes },
    'osd0-down-ok-to-stop-1-max6': { ids: [1], then: yes },
    'osd0-down-ok-to-stop-2': { ids: [2], code: 16, then: no },
    'osd0-out-ok-to-stop-0': { ids: [0], then: counted('osd.0') },
    'host-r0h0-down-ok-to-stop-4': { ids: [4], code: 16, then: no },
    'recovering-ok-to-stop-4-1': { ids: [4], code: 16, then: no },
    'recovering-ok-to-stop-4-2': { ids: [4], then: yes },
    'tentacle-ok-to-stop-0-2-notok': { ids: [0, 2], code: 16, then: no },
    'tentacle-ok-to-stop-4-max20-FALSE-OK': { ids: [4], then: yes },
    'tentacle-ok-to-stop-5-6-FALSE-OK': { ids: [5, 6], then: yes },
  }
  it('is tried with every sample there is', () => {
    expect(Object.keys(cases).sort()).toEqual(sampleNames(/ok-to-stop/))
  })
  it.each(Object.entries(cases))('%s', (name, { ids, code = 0, then }) => {
    expect(parseOkToStop({ code, out: `\n${readSampleText(name)}`, err: '' }, ids)).toEqual(then)
  })

  it('with a limit names all that may stop beside the one it was asked about', () => {
    const read = (name: string, code: number, id: number) =>
      parseStoppable({ code, out: readSampleText(name), err: '' }, [id])
    expect(read('ok-to-stop-max4-ok', 0, 0)).toEqual({ known: true, value: [0, 1] })
    expect(read('osd0-down-ok-to-stop-2', 16, 2)).toEqual({ known: true, value: [] })
  })

  const answer = { ok_to_stop: true, osds: [0], num_ok_pgs: 5, num_not_ok_pgs: 0 }
  const others: Record<string, { code?: number; out?: unknown; err?: string; then: object }> = {
    'PGs that the manager does not know yet are no answer': {
      code: 11,
      err: 'some PGs are unknown\n',
      then: { known: false, why: 'osd ok-to-stop ended with 11: some PGs are unknown' },
    },
    'an id that Ceph does not take is no answer': {
      code: 22,
      then: { known: false, why: 'osd ok-to-stop ended with 22' },
    },
    'a refusal counts even without its report': { code: 16, out: '', then: no },
    'a yes without its report is no answer': {
      out: 'OSD(s) 0 are ok to stop',
      then: { known: false, why: 'the answer to osd ok-to-stop cannot be used: it is no whole JSON (23 characters)' },
    },
    'a yes about another OSD is no answer': {
      out: { ...answer, osds: [1] },
      then: { known: false, why: 'osd ok-to-stop did not answer about osd.0' },
    },
    'a no that ends with 0 is a no': { out: { ...answer, ok_to_stop: false }, then: no },
    'a yes that counts bad PGs is a no': { out: { ...answer, num_not_ok_pgs: 1 }, then: no },
  }
  it.each(Object.entries(others))('%s', (_, { code = 0, out = '', err = '', then }) => {
    const text = typeof out === 'string' ? out : JSON.stringify(out)
    expect(parseOkToStop({ code, out: text, err }, [0])).toEqual(then)
  })
})

describe('osd metadata', () => {
  it('names the host of each OSD, and none for one that never booted', () => {
    const list = [readSample('osd-metadata-0'), { id: '3', hostname: 'node-b' }, { id: 1 }, { id: 2, hostname: '' }]
    expect(parseOsdMetadata(list)).toEqual({
      known: true,
      value: new Map([
        [0, 'node-a'],
        [3, 'node-b'],
      ]),
    })
  })

  it('a host whose OSD is not named makes it unknown', () => {
    expect(parseOsdMetadata([{ hostname: 'node-a' }])).toEqual({
      known: false,
      why: 'the answer to osd metadata cannot be used: osd metadata[0].id is missing',
    })
  })
})
