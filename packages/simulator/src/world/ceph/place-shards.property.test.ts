import { noOsd } from '@cofferdam/product/safety/ceph-map.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CrushDescription } from './ceph-description.ts'
import { ancestorsOf, buildCrushTree, type CrushTree } from './crush-tree.ts'
import { placeShards } from './place-shards.ts'

/** Zones of hosts of OSDs, of all sizes. */
const clusters = fc
  .array(
    fc.array(fc.array(fc.double({ min: 0.5, max: 8, noNaN: true }), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    }),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((zones): CrushDescription => {
    let id = 0
    return {
      type: 'root',
      name: 'default',
      children: zones.map((hosts, zone) => ({
        type: 'zone',
        name: `zone-${zone}`,
        children: hosts.map((weights, host) => ({
          type: 'host',
          name: `host-${zone}-${host}`,
          osds: weights.map((weight) => ({ id: id++, weight })),
        })),
      })),
    }
  })

const setups = fc.record({
  crush: clusters,
  kind: fc.constantFrom('replicated' as const, 'erasure' as const),
  failureDomain: fc.constantFrom('osd', 'host', 'zone'),
  width: fc.integer({ min: 1, max: 6 }),
  seed: fc.nat(),
  outs: fc.array(fc.nat({ max: 40 }), { maxLength: 6 }),
})

type Setup = typeof setups extends fc.Arbitrary<infer T> ? T : never

function placeIn(tree: CrushTree, { kind, failureDomain, width, seed }: Setup, outs: readonly number[]): number[] {
  const rule = { id: 1, name: 'pool', kind, failureDomain, deviceClass: undefined }
  return placeShards({ tree, rule, width, seed, isOut: (osd) => outs.includes(osd) })
}

function domainOf(tree: CrushTree, osd: number, type: string): string {
  const item = tree.byId.get(osd)
  if (item === undefined) throw new Error(`no osd.${osd}`)
  return [item, ...ancestorsOf(item)].find((one) => one.type === type)?.name ?? ''
}

describe('placement', () => {
  it('puts shards on different OSDs that are in, no two of them in one failure domain', () => {
    fc.assert(
      fc.property(setups, (setup) => {
        const tree = buildCrushTree(setup.crush, [])
        const placed = placeIn(tree, setup, setup.outs)
        const osds = placed.filter((osd) => osd !== noOsd)
        const domains = osds.map((osd) => domainOf(tree, osd, setup.failureDomain))
        expect(new Set(domains).size).toBe(osds.length)
        expect(osds.filter((osd) => setup.outs.includes(osd))).toEqual([])
        expect(placed.length).toBe(setup.kind === 'erasure' ? setup.width : osds.length)
        expect(osds.length).toBeLessThanOrEqual(setup.width)
      }),
    )
  })

  it('is the same each time, and stays where it is when an OSD goes out that it does not use', () => {
    fc.assert(
      fc.property(setups, (setup) => {
        const tree = buildCrushTree(setup.crush, [])
        const placed = placeIn(tree, setup, setup.outs)
        const unused = tree.osdIds.find((osd) => !placed.includes(osd))
        const outs = unused === undefined ? setup.outs : [...setup.outs, unused]
        const again = placeIn(tree, setup, outs)
        expect(placeIn(buildCrushTree(setup.crush, []), setup, setup.outs)).toEqual(placed)
        expect(placed.filter((osd) => !again.includes(osd))).toEqual([])
      }),
    )
  })

  it('spreads shards by weight and moves little more than the share of an OSD that goes out', () => {
    const crush: CrushDescription = {
      type: 'root',
      name: 'default',
      children: Array.from({ length: 8 }, (_, host) => ({
        type: 'host',
        name: `host-${host}`,
        osds: [{ id: host, weight: host === 7 ? 2 : 1 }],
      })),
    }
    const tree = buildCrushTree(crush, [])
    const counts = new Map<number, number>()
    let moved = 0
    const groups = 4_000
    for (let seed = 0; seed < groups; seed += 1) {
      const setup: Setup = { crush, kind: 'replicated', failureDomain: 'host', width: 2, seed, outs: [] }
      const placed = placeIn(tree, setup, [])
      for (const osd of placed) counts.set(osd, (counts.get(osd) ?? 0) + 1)
      moved += placeIn(tree, setup, [0]).filter((osd) => !placed.includes(osd)).length
    }
    const shareOf = (osd: number) => (counts.get(osd) ?? 0) / (2 * groups)
    expect(shareOf(0)).toBeGreaterThan(0.1)
    expect(shareOf(0)).toBeLessThan(0.13)
    expect(shareOf(7)).toBeGreaterThan(0.18)
    expect(moved).toBeLessThan(1.2 * (counts.get(0) ?? 0))
  })
})
