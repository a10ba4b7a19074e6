import type { CephFacts } from '../../../shared/ceph-facts.ts'
import { listText } from '../../../shared/list-text.ts'

/** `113 active+clean, 15 active+undersized+degraded`, the most first. */
export function placementGroupsText({ pgs }: CephFacts): string {
  const states = Object.entries(pgs).sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
  return states.length === 0 ? 'none' : states.map(([state, count]) => `${count} ${state}`).join(', ')
}

/** `a, b in quorum; c out` */
export function quorumText({ mons }: CephFacts): string {
  if (mons === undefined) return 'unknown: the operator has not asked for the quorum yet'
  const { inQuorum, out } = mons
  if (inQuorum.length === 0) return `no quorum; ${out.join(', ')} out`
  return `${inQuorum.join(', ')} in quorum; ${out.length === 0 ? 'none' : out.join(', ')} out`
}

export interface OwnNoout {
  readonly buckets: readonly string[]
  readonly osds: readonly number[]
}

/** Where noout is set, and whether Cofferdam set it. What is not on record as set by Cofferdam, Cofferdam leaves alone. */
export function nooutText({ noout }: CephFacts, own: OwnNoout): string {
  const byUs = (isOurs: boolean) => (isOurs ? 'set by Cofferdam' : 'set by another user, Cofferdam leaves it')
  const groups = [
    ...(noout.isClusterWide ? [`whole cluster: ${byUs(false)}`] : []),
    ...split(noout.buckets, own.buckets).map(({ names, isOurs }) => `${listText(names)}: ${byUs(isOurs)}`),
    ...split(noout.osds, own.osds).map(({ names, isOurs }) => `osd ${listText(names.map(String))}: ${byUs(isOurs)}`),
  ]
  return groups.length === 0 ? 'not set' : groups.join('; ')
}

function split<Name>(names: readonly Name[], own: readonly Name[]) {
  return [true, false]
    .map((isOurs) => ({ isOurs, names: names.filter((name) => own.includes(name) === isOurs) }))
    .filter((group) => group.names.length > 0)
}
