import { type CephMap, noOsd } from './ceph-map.ts'

/** OSDs that cannot all go, and the placement group that shows it. */
export interface TrialQuestion {
  readonly osds: readonly number[]
  readonly group: string
}

/**
 * A set of OSDs that nobody may call safe to stop: as many of one placement group as put it below its floor. Undefined when
 * the map has no group that shows it without doubt.
 *
 * The last member of the group is left out: there are releases of Ceph that count a group only when its last one is asked for.
 */
export function trialQuestion({ pgs, pools, osds }: CephMap): TrialQuestion | undefined {
  const isUp = new Set(osds.filter((osd) => osd.isUp).map(({ id }) => id))
  for (let group = 0; group < pgs.count; group += 1) {
    const pool = pools.find(({ id }) => id === pgs.poolIds[group])
    if (pool === undefined || !/^active\+clean/.test(pgs.stateNames[pgs.states[group] ?? -1] ?? '')) continue
    const members = pgs.acting.slice(pgs.offsets[group], pgs.offsets[group + 1])
    const asked = members.slice(0, members.length - pool.minSize + 1)
    if (asked.length >= members.length || asked.some((id) => id === noOsd || !isUp.has(id))) continue
    return { osds: [...asked], group: `${pool.id}.${(pgs.pgNumbers[group] ?? 0).toString(16)}` }
  }
  return undefined
}
