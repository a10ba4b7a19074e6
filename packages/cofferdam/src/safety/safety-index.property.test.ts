import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../../test/property-runs.ts'
import { type CephMap, type CrushBucket, noOsd, type SiteRule } from './ceph-map.ts'
import { pgEvidenceOf } from './pg-evidence.ts'
import { buildSafetyIndex } from './safety-index.ts'
import { type ExampleMap, type ExamplePg, exampleMap } from './testing/example-map.ts'

const osdCount = 8
const epoch = 10

const osd = fc.integer({ min: 0, max: osdCount - 1 })
const slot = fc.oneof({ weight: 12, arbitrary: osd }, { weight: 1, arbitrary: fc.constantFrom(noOsd, 40) })
const members = fc.array(slot, { maxLength: 5 })
const pool = fc.record({
  size: fc.integer({ min: 2, max: 5 }),
  minSize: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 1, max: 4 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1.5) },
  ),
})
const state = fc.constantFrom(
  ...Array.from({ length: 6 }, () => 'active+clean'),
  'active+undersized+degraded',
  'active+remapped+backfilling',
  'active+recovering+degraded',
  'undersized+degraded+peered',
)
const pg = fc.record({
  pool: fc.oneof({ weight: 12, arbitrary: fc.constantFrom(1, 2) }, { weight: 1, arbitrary: fc.constant(3) }),
  state,
  acting: members,
  up: fc.option(members, { nil: undefined }),
  reported: fc.oneof(
    { weight: 9, arbitrary: fc.constant(epoch) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: epoch }) },
  ),
})

const hosts = { 'host-a': [0, 1], 'host-b': [2, 3], 'host-c': [4, 5], 'host-d': [6, 7] }
/** The last host stands in no rack. */
const rackOf = (id: number) => (id < 4 ? 'rack-a' : id < 6 ? 'rack-b' : '')
const buckets: readonly CrushBucket[] = [
  ...Object.entries(hosts).map(([name, children], at) => ({ id: -2 - at, name, type: 'host', children })),
  { id: -10, name: 'rack-a', type: 'rack', children: [-2, -3] },
  { id: -11, name: 'rack-b', type: 'rack', children: [-4] },
  { id: -1, name: 'default', type: 'root', children: [-10, -11, -5] },
]
const sites = fc.constantFrom<readonly SiteRule[] | undefined>(
  undefined,
  [{ poolIds: [1], type: 'rack' }],
  [{ poolIds: [1, 2], type: 'rack' }],
)

const cluster: fc.Arbitrary<ExampleMap> = fc
  .record({
    pools: fc.tuple(pool, pool),
    ups: fc.array(fc.boolean(), { minLength: osdCount, maxLength: osdCount }),
    changes: fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 })), {
      minLength: osdCount,
      maxLength: osdCount,
    }),
    pgs: fc.array(pg, { maxLength: 12 }),
    sites,
  })
  .map(({ pools, ups, changes, pgs, sites: rules }) => ({
    epoch,
    hosts,
    crush: { buckets },
    ...(rules !== undefined && { sites: rules }),
    pools: pools.map((facts, at) => ({ id: at + 1, name: `pool-${at + 1}`, ...facts })),
    osds: changes.map(([upFrom, downAt], id) => ({ id, isUp: ups[id] as boolean, upFrom, downAt })),
    pgs: pgs.map(
      ({ pool: id, up, ...facts }, at): ExamplePg => ({
        pg: `${id}.${at.toString(16)}`,
        ...facts,
        up: up ?? facts.acting,
      }),
    ),
  }))
const asked = fc.uniqueArray(osd, { maxLength: 5 })

/** The same question, answered the slow way: from the rows alone, one placement group after the other. */
function naiveVerdict(given: ExampleMap, map: CephMap, osds: readonly number[]): 'yes' | 'no' | 'unknown' {
  const isUp = (id: number) => map.osds.some((one) => one.id === id && one.isUp)
  const changedAt = (id: number) => {
    const found = map.osds.find((one) => one.id === id)
    return found === undefined ? 0 : Math.max(found.upFrom, found.downAt)
  }
  const leaving = osds.filter(isUp)
  const different = (ids: readonly number[]) => [...new Set(ids)].filter((id) => id !== noOsd)
  let isCertain = true
  let isSafe = true
  for (const row of given.pgs ?? []) {
    const acting = different(row.acting)
    const up = different(row.up ?? row.acting)
    const evidence = pgEvidenceOf(row.state ?? 'active+clean')
    if (acting.length === 0 && evidence !== 'inactive') {
      isCertain = false
      continue
    }
    const loses = (set: readonly number[]) => set.some((id) => leaving.includes(id))
    const left = (set: readonly number[]) => set.filter((id) => isUp(id) && !leaving.includes(id)).length
    if (!loses([...acting, ...up])) continue
    const found = map.pools.find(({ id }) => id === Number(row.pg.split('.')[0]))
    const isOld = [...acting, ...up].some((id) => changedAt(id) > (row.reported ?? epoch))
    if (isOld || found === undefined || !Number.isInteger(found.minSize) || found.minSize < 1) isCertain = false
    else if (evidence === 'inactive') isSafe = false
    else {
      const isStretched = (map.sites ?? []).some(({ poolIds }) => poolIds.includes(found.id))
      const losesSite = (set: readonly number[]) =>
        isStretched &&
        new Set(set.filter(isUp).map(rackOf)).size >
          new Set(set.filter((id) => isUp(id) && !leaving.includes(id)).map(rackOf)).size
      const breaks = (set: readonly number[]) => loses(set) && (left(set) < found.minSize || losesSite(set))
      if (breaks(acting)) isSafe = false
      const mayBecomeActing = evidence === 'moving' && up.length >= found.size
      if (mayBecomeActing && breaks(up)) isSafe = false
      if (loses(acting) && evidence === 'doubtful') isCertain = false
    }
  }
  for (const row of given.pgs ?? []) {
    const size = map.pools.find(({ id }) => id === Number(row.pg.split('.')[0]))?.size ?? Number.POSITIVE_INFINITY
    const isShort = row.acting.filter(isUp).length < size
    const upFrom = (id: number) => map.osds.find((one) => one.id === id)?.upFrom ?? 0
    if (isShort && leaving.some((id) => upFrom(id) > (row.reported ?? epoch))) isCertain = false
  }
  return isSafe ? (isCertain ? 'yes' : 'unknown') : 'no'
}

const runs = { numRuns: runsOf(1_000) }

describe('the safety index, over random clusters', () => {
  it('answers as a slow reading of every row does', () => {
    fc.assert(
      fc.property(cluster, asked, (given, osds) => {
        const map = exampleMap(given)
        expect(buildSafetyIndex(map).mayStop(osds).may).toBe(naiveVerdict(given, map, osds))
      }),
      runs,
    )
  })

  it('allows every part of what it allows', () => {
    fc.assert(
      fc.property(cluster, asked, fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), (given, osds, kept) => {
        const index = buildSafetyIndex(exampleMap(given))
        fc.pre(index.mayStop(osds).may === 'yes')
        expect(index.mayStop(osds.filter((_, at) => kept[at]))).toEqual({ may: 'yes' })
      }),
      { numRuns: runsOf(300) },
    )
  })

  it('gives the same words for the same facts in another order', () => {
    fc.assert(
      fc.property(cluster, asked, (given, osds) => {
        const turned: ExampleMap = {
          ...given,
          pools: [...(given.pools ?? [])].reverse(),
          osds: [...(given.osds ?? [])].reverse(),
          pgs: [...(given.pgs ?? [])].reverse().map((row) => ({ ...row, acting: [...row.acting].reverse() })),
        }
        const index = buildSafetyIndex(exampleMap(given))
        const turnedIndex = buildSafetyIndex(exampleMap(turned))
        expect(turnedIndex.mayStop([...osds].reverse())).toEqual(index.mayStop(osds))
        expect(turnedIndex.domainVerdicts('host')).toEqual(index.domainVerdicts('host'))
        expect(turnedIndex.domainVerdicts('rack')).toEqual(index.domainVerdicts('rack'))
      }),
      runs,
    )
  })

  it('after changes of single OSDs answers as one built anew, and the older index is not disturbed', () => {
    const change = fc.record({ id: osd, isUp: fc.boolean(), isAsked: fc.boolean() })
    fc.assert(
      fc.property(cluster, fc.array(change, { maxLength: 4 }), asked, (given, changes, osds) => {
        const first = buildSafetyIndex(exampleMap(given))
        const firstWords = first.domainVerdicts('host')
        let index = first
        let now = given
        for (const { id, isUp, isAsked } of changes) {
          index = index.withOsd({ id, isUp })
          now = { ...now, osds: (now.osds ?? []).map((one) => (one.id === id ? { ...one, isUp } : one)) }
          if (isAsked) index.domainVerdicts('host')
        }
        const anew = buildSafetyIndex(exampleMap(now))
        expect(index.map).toEqual(anew.map)
        expect(index.mayStop(osds)).toEqual(anew.mayStop(osds))
        expect(index.domainVerdicts('host')).toEqual(anew.domainVerdicts('host'))
        expect(first.domainVerdicts('host')).toEqual(firstWords)
        expect(first.domainVerdicts('host')).toEqual(buildSafetyIndex(exampleMap(given)).domainVerdicts('host'))
      }),
      { numRuns: runsOf(500) },
    )
  })
})
