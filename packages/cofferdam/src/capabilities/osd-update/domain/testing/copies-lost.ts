import type { CephMap } from '../../../../safety/ceph-map.ts'

/**
 * What stopping some OSDs would take too much from, beside others that are away: told from the rows of the map alone, by counting. Shares
 * nothing with what plans and checks.
 */
export function copiesLost(
  map: CephMap,
  given: { readonly stop: readonly number[]; readonly away?: ReadonlySet<number>; readonly reserve?: number },
): string[] {
  const { stop, away = new Set<number>(), reserve = 0 } = given
  const serving = new Set(map.osds.filter(({ id, isUp }) => isUp && !away.has(id)).map(({ id }) => id))
  const stopping = new Set(stop)
  const lost: string[] = []
  for (let pg = 0; pg < map.pgs.count; pg += 1) {
    const row = new Set(map.pgs.acting.slice(map.pgs.offsets[pg], map.pgs.offsets[pg + 1]))
    if (![...row].some((id) => stopping.has(id))) continue
    const pool = map.pools.find(({ id }) => id === map.pgs.poolIds[pg])
    const floor = (pool?.minSize ?? Number.POSITIVE_INFINITY) + reserve
    const left = [...row].filter((id) => serving.has(id) && !stopping.has(id))
    if (left.length < floor) lost.push(`placement group ${pg} keeps ${left.length} of ${floor} without ${stop.join()}`)
    for (const { poolIds, type } of map.sites ?? []) {
      if (pool === undefined || !poolIds.includes(pool.id)) continue
      const sites = map.crush.buckets.filter((bucket) => bucket.type === type)
      for (const site of sites) {
        const inside = osdsBelow(map, site.id)
        const had = [...row].some((id) => inside.has(id) && (serving.has(id) || stopping.has(id)))
        if (had && !left.some((id) => inside.has(id)))
          lost.push(`placement group ${pg} has no copy left in ${site.name}`)
      }
    }
  }
  return lost
}

function osdsBelow(map: CephMap, bucket: number): Set<number> {
  const below = new Set<number>()
  const open = [bucket]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id >= 0) below.add(id)
    else open.push(...(map.crush.buckets.find((one) => one.id === id)?.children ?? []))
  }
  return below
}
