import { type CephMap, noOsd } from './ceph-map.ts'

/** OSDs that cannot all go, and the placement group that shows it. */
export interface ProbeQuestion {
  readonly osds: readonly number[]
  readonly group: string
}

/** Groups examined until one will do; where hundreds will not, the map is too small or too sick for a question. */
const mostTried = 2_000

/**
 * A set of OSDs that nobody may call safe to stop: as many of one placement group as put it below its floor. Undefined
 * when the map shows none without doubt.
 *
 * If there is one, it is a set that Ceph 20.2.4 calls safe: that release counts a group only when the last of its members is
 * among those it was asked about, so every group that would be hurt has its last member elsewhere.
 */
export function probeQuestion(map: CephMap): ProbeQuestion | undefined {
  const { pgs } = map
  const pools = new Map(map.pools.map((pool) => [pool.id, pool]))
  const isUp = new Set(map.osds.filter((osd) => osd.isUp).map(({ id }) => id))
  const membersOf = (group: number) => pgs.acting.subarray(pgs.offsets[group], pgs.offsets[group + 1])
  const floorOf = (group: number) => pools.get(pgs.poolIds[group] as number)?.minSize ?? 0
  let byLast: ReadonlyMap<number, readonly number[]> | undefined
  let any: ProbeQuestion | undefined

  for (let group = 0; group < Math.min(pgs.count, mostTried); group += 1) {
    const pool = pools.get(pgs.poolIds[group] as number)
    if (pool === undefined || !pgs.stateNames[pgs.states[group] as number]?.startsWith('active+clean')) continue
    const members = membersOf(group)
    const asked = members.slice(0, members.length - pool.minSize + 1)
    if (asked.length >= members.length || asked.some((id) => id === noOsd || !isUp.has(id))) continue
    const question = { osds: [...asked], group: `${pool.id}.${(pgs.pgNumbers[group] as number).toString(16)}` }
    any ??= question
    byLast ??= groupsByLast(map)
    const seen = [...asked].flatMap((id) => byLast?.get(id) ?? [])
    const isHurt = (other: number) => membersOf(other).filter((id) => !asked.includes(id)).length < floorOf(other)
    if (!seen.some(isHurt)) return question
  }
  return any
}

function groupsByLast({ pgs }: CephMap): ReadonlyMap<number, readonly number[]> {
  const byLast = new Map<number, number[]>()
  for (let group = 0; group < pgs.count; group += 1) {
    const last = pgs.acting[(pgs.offsets[group + 1] as number) - 1] as number
    const held = byLast.get(last)
    if (held === undefined) byLast.set(last, [group])
    else held.push(group)
  }
  return byLast
}
