import { describe, expect, it } from 'vitest'
import { type DumpedOsd, type DumpedPg, whyNotClean } from './why-not-clean.ts'

const osd = (id: number, changes: Partial<DumpedOsd> = {}): DumpedOsd => ({
  osd: id,
  up: 1,
  up_from: 10,
  down_at: 0,
  ...changes,
})
const pg = (pgid: string, changes: Partial<DumpedPg> = {}): DumpedPg => ({
  pgid,
  state: 'active+clean',
  up: [0, 1],
  acting: [0, 1],
  reported_epoch: 12,
  ...changes,
})
const clean = { osds: [osd(0), osd(1)], pgs: [pg('1.0'), pg('1.1')], pgCount: 2, expectedOsds: [0, 1] }

describe('a cluster is clean', () => {
  const cases: Record<string, { seen: Parameters<typeof whyNotClean>[0]; why: string | undefined }> = {
    'when all is up, clean and reported since': { seen: clean, why: undefined },
    'also without an OSD that was stopped on purpose, once its data is elsewhere': {
      seen: { ...clean, osds: [...clean.osds, osd(2, { up: 0, down_at: 11 })] },
      why: undefined,
    },
    'but not before an OSD that runs is up': {
      seen: { ...clean, osds: [osd(0), osd(1, { up: 0, down_at: 11 })] },
      why: 'not up: osd.1',
    },
    'but not while placement groups are unheard of': {
      seen: { ...clean, pgs: [pg('1.0')] },
      why: '1 of 2 placement groups are reported',
    },
    'but not while one lacks a copy': {
      seen: { ...clean, pgs: [pg('1.0'), pg('1.1', { state: 'active+undersized' })] },
      why: 'not clean: 1.1 active+undersized',
    },
    'but not by a report from before its OSD came back': {
      seen: { ...clean, osds: [osd(0), osd(1, { up_from: 13, down_at: 11 })] },
      why: '2 reports are older than the last change of their OSDs',
    },
    'but not by a report from before its OSD went': {
      seen: { ...clean, osds: [osd(0), osd(1, { up: 0, down_at: 13 })], expectedOsds: [0] },
      why: '2 reports are older than the last change of their OSDs',
    },
  }
  it.each(Object.entries(cases))('%s', (_, { seen, why }) => {
    expect(whyNotClean(seen)).toBe(why)
  })
})
