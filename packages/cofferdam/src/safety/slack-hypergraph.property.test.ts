import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../../test/property-runs.ts'
import { noOsd } from './ceph-map.ts'
import { buildSafetyIndex } from './safety-index.ts'
import { buildSlackHypergraph, type SlackHypergraph } from './slack-hypergraph.ts'
import { type ExamplePg, exampleMap } from './testing/example-map.ts'

const osdCount = 8
const osd = fc.integer({ min: 0, max: osdCount - 1 })
const slot = fc.oneof({ weight: 15, arbitrary: osd }, { weight: 1, arbitrary: fc.constantFrom(noOsd, 40) })
const row = fc.array(slot, { minLength: 1, maxLength: 6 })
const pg = fc.record({
  pool: fc.oneof({ weight: 20, arbitrary: fc.constantFrom(1, 2) }, { weight: 1, arbitrary: fc.constant(3) }),
  state: fc.constantFrom(
    ...Array.from({ length: 8 }, () => 'active+clean'),
    'active+undersized+degraded',
    'active+remapped+backfilling',
    'active+remapped+backfilling',
    'active+recovering+degraded',
    'undersized+degraded+peered',
  ),
  acting: row,
  up: fc.option(row, { nil: undefined }),
  reported: fc.oneof(
    { weight: 15, arbitrary: fc.constant(10) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }) },
  ),
})
const pool = fc.record({ size: fc.integer({ min: 2, max: 5 }), minSize: fc.integer({ min: 1, max: 3 }) })
const cluster = fc
  .record({
    pools: fc.tuple(pool, pool),
    downs: fc.uniqueArray(osd, { maxLength: 2 }),
    changes: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: osdCount, maxLength: osdCount }),
    pgs: fc.array(pg, { maxLength: 6 }),
  })
  .map(({ pools, downs, changes, pgs }) =>
    exampleMap({
      hosts: { 'host-a': [0, 1, 2, 3], 'host-b': [4, 5, 6, 7] },
      pools: pools.map((facts, at) => ({ id: at + 1, name: `pool-${at + 1}`, ...facts })),
      osds: changes.map((upFrom, id) => ({ id, isUp: !downs.includes(id), upFrom })),
      pgs: pgs.map(
        ({ pool: id, up, ...facts }, at): ExamplePg => ({ pg: `${id}.${at}`, ...facts, up: up ?? facts.acting }),
      ),
    }),
  )

function isSafe({ osds, edgeStarts, edgeMembers, slack }: SlackHypergraph, asked: readonly number[]): boolean {
  if (asked.some((id) => !osds.includes(id))) return false
  return slack.every((atMost, edge) => {
    const members = edgeMembers.subarray(edgeStarts[edge], edgeStarts[edge + 1])
    return members.filter((unit) => asked.includes(osds[unit] as number)).length <= atMost
  })
}

describe('what may stop together, over random clusters', () => {
  it('is exactly what the safety index lets stop', () => {
    const asked = fc.uniqueArray(osd, { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(cluster, asked, fc.integer({ min: 0, max: 1 }), fc.boolean(), (bare, osds, reserve, isStretched) => {
        const sites = isStretched ? [{ poolIds: [1], type: 'host' }] : []
        const map = { ...bare, sites }
        const graph = buildSlackHypergraph({ map, targets: osds, reserve, sites })
        expect(isSafe(graph, osds)).toBe(buildSafetyIndex(map, { reserve }).mayStop(osds).may === 'yes')
      }),
      { numRuns: runsOf(2_000) },
    )
  })
})
