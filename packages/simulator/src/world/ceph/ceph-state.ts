import type { CephDescription } from './ceph-description.ts'
import type { MgrSeat } from './mgr-seat.ts'
import type { MonQuorum } from './mon-quorum.ts'
import type { OsdMap } from './osd-map.ts'
import type { PgReport } from './pg-reports.ts'
import { type PlacementGroup, type Pool, primaryOf } from './placement-group.ts'
import type { PlacementGroups } from './placement-groups.ts'
import type { DaemonSight } from './pod-shadow.ts'

/** Everything that an answer may be made of. */
export interface CephState {
  readonly description: CephDescription
  readonly map: OsdMap
  readonly pools: Pool[]
  readonly groups: PlacementGroups
  readonly mons: MonQuorum
  readonly mgr: MgrSeat
  readonly now: () => number
  readonly sightOfMon: (mon: string) => DaemonSight
  /** All placement groups as the mgr sees them, or as the last one saw them. */
  readonly seen: () => readonly SeenGroup[]
  readonly okToStop: { lie: 'yes' | 'no' | undefined; isTentacle: boolean }
}

export interface SeenGroup {
  readonly group: PlacementGroup
  /** None: the mgr has not heard of it. */
  readonly report: PgReport | undefined
  /** As Ceph words it; `unknown` without a report. */
  readonly state: string
}

export interface SeenGroups {
  readonly list: readonly SeenGroup[]
  /** Until when this stays so, as far as time alone could change it. */
  readonly untilMs: number
}

/** The mgr marks what a dead primary said last as stale, though not at once. */
const staleAfterMs = 1_000

function seeGroup(
  { map, groups, now }: Pick<CephState, 'map' | 'groups' | 'now'>,
  group: PlacementGroup,
  before: SeenGroup | undefined,
): SeenGroup {
  const report = groups.reports.of(group)
  const primary = report && map.osds.get(primaryOf(report.acting))
  const isStale = primary !== undefined && !primary.isUp && now() - primary.downSinceMs >= staleAfterMs
  const said = report?.state ?? 'unknown'
  const state = isStale ? `stale+${said}` : said
  if (before !== undefined && before.group === group && before.report === report && before.state === state)
    return before
  return { group, report, state }
}

/** The very list of before where nothing in it is different. */
export function seeGroups(
  state: Pick<CephState, 'map' | 'groups' | 'now'>,
  before: readonly SeenGroup[] = [],
): SeenGroups {
  const { map, groups, now } = state
  let untilMs = Number.POSITIVE_INFINITY
  for (const { isUp, downSinceMs } of map.osds.values()) {
    if (!isUp && now() < downSinceMs + staleAfterMs) untilMs = Math.min(untilMs, downSinceMs + staleAfterMs)
  }
  for (const group of groups.list) untilMs = Math.min(untilMs, groups.reports.sameUntilMs(group))
  const seen = groups.list.map((group, place) => seeGroup(state, group, before[place]))
  const isSame = seen.length === before.length && seen.every((group, place) => group === before[place])
  return { list: isSame ? before : seen, untilMs }
}
