import { describe, expect, it } from 'vitest'
import { countedMap, ignoredPoolProblems, parseIgnoredPools } from './ignored-pools.ts'
import { buildSafetyIndex } from './safety-index.ts'
import { exampleMap } from './testing/example-map.ts'

describe('pools that the administrator excludes', () => {
  it('are named with a reason', () => {
    expect(parseIgnoredPools('{"scratch":" build cache ","a":"test data"}')).toEqual({
      ignored: [
        { name: 'a', reason: 'test data' },
        { name: 'scratch', reason: 'build cache' },
      ],
      warnings: [],
    })
    expect(parseIgnoredPools(undefined)).toEqual({ ignored: [], warnings: [] })
  })

  const unusable: Record<string, string> = {
    'a list of names without reasons ignores nothing: nobody could tell later why data was lost': '["scratch"]',
    'text that is no JSON ignores nothing': 'scratch',
    'an endless text ignores nothing': JSON.stringify({ scratch: 'x'.repeat(40_000) }),
    'hundreds of pools are no exception any more': JSON.stringify(
      Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`pool-${at}`, 'why'])),
    ),
  }
  it.each(Object.entries(unusable))('%s', (_, text) => {
    const { ignored, warnings } = parseIgnoredPools(text)
    expect({ ignored, warnings: warnings.length }).toEqual({ ignored: [], warnings: 1 })
    expect(warnings[0]).toMatch(/every pool counts$/)
  })

  it('an entry without a reason, with a number or an endless one counts; the others are still ignored', () => {
    const text = JSON.stringify({ ok: 'cache', empty: '  ', number: 5, long: 'x'.repeat(301) })
    const { ignored, warnings } = parseIgnoredPools(text)
    expect(ignored).toEqual([{ name: 'ok', reason: 'cache' }])
    const because = (why: string, pool: string) =>
      `annotation cofferdam.io/ignore-pools ${why} for pool "${pool}"; that pool counts`
    expect(warnings).toEqual([
      because('gives no reason', 'empty'),
      because('gives no reason', 'number'),
      because('has more than 300 characters', 'long'),
    ])
  })

  it('are read up to the limits that are named, and not beyond', () => {
    const pools = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, 'why']))
    const padded = (length: number) => '{"scratch":"cache"}'.padEnd(length)
    const kept = [JSON.stringify(pools(64)), JSON.stringify({ scratch: 'x'.repeat(300) }), padded(32 * 1024)].map(
      (text) => parseIgnoredPools(text).ignored.length,
    )
    expect(kept).toEqual([64, 1, 1])
    expect(parseIgnoredPools(padded(32 * 1024 + 1))).toEqual({
      ignored: [],
      warnings: ['annotation cofferdam.io/ignore-pools has more than 32 KiB; every pool counts'],
    })
  })

  it('with endless names are shown by their first 100 characters', () => {
    const name = `${'n'.repeat(100)}-and-more`
    const { warnings } = parseIgnoredPools(JSON.stringify({ [name]: '' }))
    expect(warnings[0]).toContain(`for pool "${'n'.repeat(100)}";`)
    expect(ignoredPoolProblems([{ name, reason: 'cache' }], undefined)[0]?.object).toBe(`pool/${'n'.repeat(100)}`)
  })

  it('neither name nor reason can write to a terminal', () => {
    const { ignored } = parseIgnoredPools('{"x\\u001b[2J":"gone\\u001b[31m\\nall is well"}')
    const text = JSON.stringify([ignored[0]?.reason, ignoredPoolProblems(ignored, undefined)])
    expect(text).not.toContain('\\u001b')
    expect(text).toContain('\\\\x1b')
  })
})

describe('the map without them', () => {
  const map = exampleMap({
    pools: [
      { id: 1, name: 'rbd' },
      { id: 2, name: 'scratch', size: 1, minSize: 1 },
      { id: 3, name: 'site', size: 2, minSize: 1 },
    ],
    pgs: [
      { pg: '2.0', acting: [0] },
      { pg: '1.0', acting: [0, 2, 4] },
      { pg: '2.1', acting: [3], up: [5] },
      { pg: '1.1', acting: [1, 3, 5], up: [1, 3, 4], reported: 7 },
      { pg: '3.0', acting: [4, 5] },
    ],
    sites: [{ poolIds: [2, 3], type: 'host' }],
  })
  const ignored = [{ name: 'scratch', reason: 'cache' }]
  const counted = () => countedMap(map, ignored)

  it('has the same placement groups of all other pools, so that theirs are judged as ever', () => {
    const { pgs, pools, sites, ignoredPools } = counted()
    expect(pgs).toEqual(
      exampleMap({
        pgs: [
          { pg: '1.0', acting: [0, 2, 4] },
          { pg: '1.1', acting: [1, 3, 5], up: [1, 3, 4], reported: 7 },
          { pg: '3.0', acting: [4, 5] },
        ],
      }).pgs,
    )
    expect(pools.map(({ name }) => name)).toEqual(['rbd', 'site'])
    expect(sites).toEqual([{ poolIds: [3], type: 'host' }])
    expect(ignoredPools).toEqual([{ id: 2, name: 'scratch', pgs: 2 }])
  })

  it('lets an OSD with the only copy of scratch data go, and none whose loss stops another pool', () => {
    expect(buildSafetyIndex(map).mayStop([0]).may).toBe('no')
    expect(buildSafetyIndex(counted()).mayStop([0]).may).toBe('yes')
    expect(buildSafetyIndex(counted()).mayStop([0, 2]).may).toBe('no')
  })

  it('is the same object for the same pools: one safety index serves all; and the very map where none is ignored', () => {
    expect(countedMap(map, [...ignored])).toBe(counted())
    expect(countedMap(map, [])).toBe(map)
    expect(countedMap(map, [{ name: 'no-such', reason: 'typing error' }])).toBe(map)
  })

  it('is told with the number of placement groups that are not waited for, as soon as Ceph has named them', () => {
    const rest = 'by annotation cofferdam.io/ignore-pools ("cache"): drains and updates do not wait for its'
    expect([undefined, counted()].map((known) => ignoredPoolProblems(ignored, known)[0]?.problem)).toEqual([
      `is to be ignored ${rest} placement groups, which can be unavailable meanwhile`,
      `is ignored ${rest} 2 placement groups, which can be unavailable meanwhile`,
    ])
  })

  it('follows the annotation: with other pools in it, another map', () => {
    const other = countedMap(map, [{ name: 'site', reason: 'cache' }])
    expect([counted().pools, other.pools, counted().pools].map((pools) => pools.map(({ id }) => id))).toEqual([
      [1, 3],
      [1, 2],
      [1, 3],
    ])
    expect([other.sites, countedMap(map, [...ignored, { name: 'site', reason: 'cache' }]).sites]).toEqual([
      [{ poolIds: [2], type: 'host' }],
      undefined,
    ])
  })

  it('has no sites where the map has none: nobody would have to keep a copy on each of them', () => {
    const { sites: _, ...single } = map
    expect('sites' in countedMap(single, ignored)).toBe(false)
  })

  it('a name that Ceph does not have is told: a typing error would otherwise look like protection', () => {
    const given = [...ignored, { name: 'no-such', reason: 'typing error' }]
    expect(ignoredPoolProblems(given, counted())).toMatchObject([
      { object: 'pool/scratch', problem: expect.stringContaining('"cache"'), reason: 'PoolsIgnored' },
      { object: 'pool/no-such', problem: expect.stringContaining('Ceph has no such pool') },
    ])
  })
})
