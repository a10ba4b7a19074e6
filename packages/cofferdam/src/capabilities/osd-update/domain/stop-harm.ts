import { type CephMap, noOsd } from '../../../safety/ceph-map.ts'

/** What placement groups lose when one OSD stops, beside all that is away. */
interface StopHarm {
  readonly osd: number
  /** Placement groups that fall below their pool's min_size, or stay below it with a copy less: clients are not served. */
  readonly belowFloor: number
  /** Those of them of which no copy is left. */
  readonly withoutCopy: number
  /** The first of them, in Ceph's order. */
  readonly pgs: readonly { readonly pg: string; readonly pool: string; readonly left: number; readonly floor: number }[]
}

const mostNamed = 5

/**
 * What each of these OSDs would take away if it stopped alone.
 *
 * Guarantees: one pass over all placement groups, whatever the number of OSDs.
 */
export function harmOfStops(map: CephMap, osds: readonly number[], reserve: number): readonly StopHarm[] {
  const { pgs } = map
  const up = new Set(map.osds.filter(({ isUp }) => isUp).map(({ id }) => id))
  const pools = new Map(map.pools.map((pool) => [pool.id, pool]))
  const harms = new Map(osds.map((osd) => [osd, { osd, belowFloor: 0, withoutCopy: 0, pgs: [] as NamedPg[] }]))
  for (let row = 0; row < pgs.count; row += 1) {
    const acting = [...new Set(pgs.acting.subarray(pgs.offsets[row], pgs.offsets[row + 1]))]
    const serving = acting.filter((id) => id >= 0 && id !== noOsd && up.has(id))
    const pool = pools.get(pgs.poolIds[row] as number)
    const floor = (pool?.minSize ?? Number.POSITIVE_INFINITY) + reserve
    const left = serving.length - 1
    if (left >= floor) continue
    for (const id of serving) {
      const harm = harms.get(id)
      if (harm === undefined) continue
      harm.belowFloor += 1
      if (left === 0) harm.withoutCopy += 1
      if (harm.pgs.length >= mostNamed) continue
      const pg = `${pgs.poolIds[row]}.${(pgs.pgNumbers[row] as number).toString(16)}`
      harm.pgs.push({ pg, pool: pool?.name ?? `number ${pgs.poolIds[row]}`, left, floor })
    }
  }
  return [...harms.values()]
}

type NamedPg = StopHarm['pgs'][number]

/** The one that hurts least: first by placement groups without any copy, then by those below their floor, then by id. */
export function leastHarm(harms: readonly StopHarm[]): StopHarm | undefined {
  return harms.toSorted((a, b) => a.withoutCopy - b.withoutCopy || a.belowFloor - b.belowFloor || a.osd - b.osd)[0]
}

/** `2 placement groups below min_size: 1.0 of pool rbd keeps 1 of 2 copies, …` */
export function harmText({ belowFloor, pgs }: Pick<StopHarm, 'belowFloor' | 'pgs'>): string {
  if (belowFloor === 0) return 'no placement group falls below its min_size'
  const named = pgs.map(({ pg, pool, left, floor }) => `${pg} of pool ${pool} keeps ${left} of ${floor} copies`)
  const more = belowFloor > named.length ? `, and ${belowFloor - named.length} more` : ''
  const groups = belowFloor === 1 ? '1 placement group is' : `${belowFloor} placement groups are`
  return `${groups} below min_size while it restarts: ${named.join(', ')}${more}`
}
