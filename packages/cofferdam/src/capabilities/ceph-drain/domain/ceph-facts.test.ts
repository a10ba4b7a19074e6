import { describe, expect, it } from 'vitest'
import type { CephMap } from '../../../safety/ceph-map.ts'
import type { CephFacts } from '../../../shared/ceph-facts.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { nooutText, placementGroupsText, quorumText } from '../view/ceph-facts-text.ts'
import { buildCephFacts, cephFactsOf, parseCephFacts } from './ceph-facts.ts'

/** As much of a map as is recorded: each PG by its state. */
function map(states: readonly string[], more: Partial<CephMap> = {}): CephMap {
  const stateNames = [...new Set(states)]
  const pgs = { count: states.length, stateNames, states: Uint16Array.from(states.map((s) => stateNames.indexOf(s))) }
  return { pgs, flags: [], bucketFlags: {}, osds: [], ...more } as unknown as CephMap
}

const clean: CephFacts = { pgs: { 'active+clean': 3 }, noout: { isClusterWide: false, buckets: [], osds: [] } }

describe('what is recorded of a poll', () => {
  it('counts a PG that is scrubbed with those that are not: or a calm cluster would have its record written at every poll', () => {
    const states = ['active+clean', 'active+clean+scrubbing', 'active+clean+scrubbing+deep', 'active+undersized']
    expect(cephFactsOf(map(states), undefined).pgs).toEqual({ 'active+clean': 3, 'active+undersized': 1 })
  })

  it('has every place where noout is set, whoever set it', () => {
    const osd = { isUp: true, isIn: true, upFrom: 1, downAt: 0 }
    const flagged = map([], {
      flags: ['sortbitwise', 'noout'],
      bucketFlags: { b: ['noout'], a: ['noout'], c: ['nodown'] },
      osds: [
        { id: 3, ...osd, hasNoout: true },
        { id: 4, ...osd },
      ],
    })
    expect(cephFactsOf(flagged, undefined).noout).toEqual({ isClusterWide: true, buckets: ['a', 'b'], osds: [3] })
  })

  it('names the monitors in quorum and out of it, and none where they were not heard', () => {
    const quorum = known({ mons: ['c', 'a', 'b'], inQuorum: ['b', 'a'] })
    expect(cephFactsOf(map([]), quorum).mons).toEqual({ inQuorum: ['a', 'b'], out: ['c'] })
    expect(cephFactsOf(map([]), unknown('silent'))).not.toHaveProperty('mons')
    expect(cephFactsOf(map([]), undefined)).not.toHaveProperty('mons')
  })

  it('of a hundred states keeps the most frequent and counts the rest, so that the record always fits', () => {
    const states = Array.from({ length: 100 }, (_, at) => `state-${at}`)
    const { pgs } = cephFactsOf(map(['active+clean', 'active+clean', ...states]), undefined)
    expect(Object.keys(pgs)).toHaveLength(25)
    expect([pgs['active+clean'], pgs['other']]).toEqual([2, 77])
  })

  it('is read as it was written', () => {
    const facts = { ...clean, mons: { inQuorum: ['a'], out: ['b'] } }
    expect(parseCephFacts(JSON.stringify(facts))).toEqual(known(facts))
    expect(parseCephFacts(JSON.stringify(clean))).toEqual(known(clean))
    expect(parseCephFacts(JSON.stringify({ ...clean, newer: 1 }))).toEqual(known(clean))
  })

  it('is not written anew for counts alone within half a minute, for they change with every poll while data recovers', () => {
    const counts = (many: number, more = {}): CephFacts => ({
      ...clean,
      pgs: { 'active+clean': many, degraded: 9 },
      ...more,
    })
    const first = buildCephFacts(undefined, counts(1), '2026-01-01T00:00:00Z')
    expect(parseCephFacts(first)).toEqual(known(counts(1)))
    expect(buildCephFacts(first, counts(2), '2026-01-01T00:00:29Z')).toBe(first)
    expect(parseCephFacts(buildCephFacts(first, counts(2), '2026-01-01T00:00:30Z'))).toEqual(known(counts(2)))
    expect(parseCephFacts(buildCephFacts(first, clean, '2026-01-01T00:00:01Z'))).toEqual(known(clean))
    const flagged = counts(1, { noout: { ...clean.noout, isClusterWide: true } })
    expect(parseCephFacts(buildCephFacts(first, flagged, '2026-01-01T00:00:01Z'))).toEqual(known(flagged))
    expect(buildCephFacts(first, counts(1), '2026-01-02T00:00:00Z')).toBe(first)
    expect(parseCephFacts(buildCephFacts('{', clean, '2026-01-01T00:00:01Z'))).toEqual(known(clean))
  })

  it('is written anew after the clock was turned back, or counts of before would be shown until it has caught up', () => {
    const first = buildCephFacts(undefined, clean, '2026-01-01T01:00:00Z')
    const merged: CephFacts = { ...clean, pgs: { 'active+clean': 2 } }
    expect(parseCephFacts(buildCephFacts(first, merged, '2026-01-01T00:00:00Z'))).toEqual(known(merged))
  })

  const unreadable: Record<string, string> = {
    'text that is no JSON is unknown, not a cluster without placement groups': 'x',
    'null is unknown': 'null',
    'counts that are words are unknown': JSON.stringify({ ...clean, pgs: { 'active+clean': 'many' } }),
    'a negative count is unknown': JSON.stringify({ ...clean, pgs: { 'active+clean': -1 } }),
    'without noout it is unknown, not "not set"': JSON.stringify({ pgs: {} }),
    'noout on what is no bucket is unknown': JSON.stringify({ ...clean, noout: { ...clean.noout, buckets: [1] } }),
    'a quorum that is a list is unknown': JSON.stringify({ ...clean, mons: ['a'] }),
    'a quorum of numbers is unknown': JSON.stringify({ ...clean, mons: { inQuorum: [0], out: [] } }),
    'a quorum without those that are out is unknown': JSON.stringify({ ...clean, mons: { inQuorum: ['a'] } }),
  }
  it.each(Object.entries(unreadable))('%s', (_sentence, text) => {
    expect(parseCephFacts(text).known).toBe(false)
  })
})

describe('in words', () => {
  it('states come with their counts, the most frequent first', () => {
    expect(placementGroupsText({ ...clean, pgs: { 'active+undersized': 2, 'active+clean': 97 } })).toBe(
      '97 active+clean, 2 active+undersized',
    )
  })

  it('the quorum names who is out, for that is whom to repair', () => {
    expect(quorumText({ ...clean, mons: { inQuorum: ['a', 'b'], out: ['c'] } })).toBe('a, b in quorum; c out')
    expect(quorumText({ ...clean, mons: { inQuorum: ['a'], out: [] } })).toBe('a in quorum; none out')
    expect(quorumText({ ...clean, mons: { inQuorum: [], out: ['a', 'b'] } })).toBe('no quorum; a, b out')
    expect(quorumText(clean)).toMatch(/^unknown/)
  })

  const flags: Record<string, { given: CephFacts['noout']; then: string }> = {
    'set nowhere': { given: clean.noout, then: 'not set' },
    'on a bucket of ours': {
      given: { isClusterWide: false, buckets: ['a'], osds: [] },
      then: 'a: set by Cofferdam',
    },
    'on a bucket of an administrator, who would wait for Cofferdam to remove it': {
      given: { isClusterWide: false, buckets: ['a', 'b'], osds: [] },
      then: 'a: set by Cofferdam; b: set by another user, Cofferdam leaves it',
    },
    'for the whole cluster, which Cofferdam never does': {
      given: { isClusterWide: true, buckets: [], osds: [] },
      then: 'whole cluster: set by another user, Cofferdam leaves it',
    },
    'on OSDs that are updated, and on one of an administrator': {
      given: { isClusterWide: false, buckets: [], osds: [1, 2, 7] },
      then: 'osd 1, 2: set by Cofferdam; osd 7: set by another user, Cofferdam leaves it',
    },
  }
  it.each(Object.entries(flags))('noout %s', (_sentence, { given, then }) => {
    expect(nooutText({ ...clean, noout: given }, { buckets: ['a'], osds: [1, 2] })).toBe(then)
  })
})
