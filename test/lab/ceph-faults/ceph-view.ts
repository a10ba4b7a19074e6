import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { observeQuorum } from '@cofferdam/product/ceph/observe-quorum.ts'
import { observeStatus } from '@cofferdam/product/ceph/observe-status.ts'
import { askOkToStop } from '@cofferdam/product/ceph/ok-to-stop.ts'

/** What one Ceph says of itself, as far as it does not depend on where CRUSH has put each group. */
export interface CephView {
  readonly osds: readonly string[]
  readonly quorum: readonly string[]
  readonly flags: Readonly<Record<string, readonly string[]>>
  readonly health: string
  readonly checks: readonly string[]
  /** States that placement groups are in. */
  readonly states: readonly string[]
  /** By zone: whether Ceph lets all of it stop. */
  readonly mayStop: Readonly<Record<string, string>>
}

/** What of it depends on where CRUSH has put each group once OSDs of two zones are down, until all are up: whether one has lost two copies. */
export const ofOneZone: readonly (keyof CephView)[] = ['checks', 'states', 'mayStop']

/** States in which a group does not stay. One may stay remapped: CRUSH does not always find a place beside an OSD that is out. */
const passing = /peering|activating|recover|backfill|_wait|unknown|stale|creating|laggy|wait/

/** Complaints that come and go with time, or only on one of the two by what else runs on the machine. */
const ofTheMoment =
  /^(SLOW_OPS|PG_SLOW_SNAP_TRIMMING|MON_CLOCK_SKEW|RECENT_CRASH|OSD_SLOW_PING.*|DAEMON_OLD_VERSION|MON_DISK_.*)$/

/** Undefined while something of it cannot be seen, or still moves. */
export async function lookAtCeph(
  commands: CephCommands,
  zones: Readonly<Record<string, readonly number[]>>,
): Promise<CephView | undefined> {
  const [map, status, quorum] = await Promise.all([
    observeCeph(commands),
    observeStatus(commands),
    observeQuorum(commands),
  ])
  if (!map.known || !status.known || !quorum.known) return undefined
  // Which groups stay remapped depends on where CRUSH has put them.
  const states = [
    ...new Set(Object.keys(status.value.pgsByState).map((state) => state.replace('+remapped', ''))),
  ].sort()
  if (states.some((state) => passing.test(state))) return undefined
  const mayStop: Record<string, string> = {}
  for (const [zone, osds] of Object.entries(zones)) {
    const up = osds.filter((id) => map.value.osds.some((osd) => osd.id === id && osd.isUp))
    const answer = up.length === 0 ? undefined : await askOkToStop(commands, up)
    mayStop[zone] = answer === undefined ? 'all down' : answer.known ? (answer.value ? 'yes' : 'no') : 'unsure'
  }
  return {
    osds: map.value.osds.map(({ id, isUp, isIn }) => `osd.${id} ${isUp ? 'up' : 'down'} ${isIn ? 'in' : 'out'}`),
    quorum: [...quorum.value.inQuorum].sort(),
    flags: Object.fromEntries(Object.entries(map.value.bucketFlags).sort()),
    health: status.value.health,
    checks: status.value.healthChecks.filter((check) => !ofTheMoment.test(check)).sort(),
    states,
    mayStop,
  }
}
