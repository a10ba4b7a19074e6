import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import type { OsdDumpAnswer, PgAnswer } from '@cofferdam/simulator/world/ceph/testing/ceph-fixture.ts'
import { obey } from '../ceph/create-pools.ts'

/** One moment of a Ceph, as its commands show it. */
interface Sight {
  readonly atMs: number
  readonly epoch: number
  readonly isUp: boolean
  readonly pgs: readonly PgAnswer[]
}

/** How long it took until one change of an OSD was in the map, and in the reports of its placement groups. */
export interface ReportTimes {
  /** From the deed to the map that has it. */
  readonly mapMs: number
  /** From that map to the first report of each group that is newer, sorted. */
  readonly reportMs: readonly number[]
  /** How many groups were shown as before while others were reported already, in the sight where it was most of them. */
  readonly mixed: number
  /** States that reports had between the map and the end. */
  readonly states: readonly string[]
  /** From the map until every report was newer, and no group in passing. */
  readonly restMs: number
}

export interface SightPorts {
  readonly commands: CephCommands
  readonly now: () => number
  /** Lets a moment pass between two sights. */
  readonly pass: () => Promise<void>
}

const passing = /peering|activating|unknown|stale|creating|laggy|wait/

async function sightOf({ commands, now }: SightPorts, osd: number): Promise<Sight> {
  const map = JSON.parse(await obey(commands, { prefix: 'osd dump' })) as OsdDumpAnswer
  const { pg_stats: pgs } = JSON.parse(await obey(commands, { prefix: 'pg dump', dumpcontents: ['pgs'] })) as {
    readonly pg_stats: readonly PgAnswer[]
  }
  return {
    atMs: now(),
    epoch: map.epoch,
    isUp: map.osds.some((each) => each.osd === osd && each.up === 1),
    // A number in some releases, and a text in others.
    pgs: pgs.map((pg) => ({ ...pg, reported_epoch: Number(pg.reported_epoch) })),
  }
}

export interface Change {
  readonly osd: number
  readonly toUp: boolean
  /** The placement groups that it is about, from `groupsOn`. */
  readonly groups: readonly string[]
  readonly deed: () => Promise<void>
}

/** The placement groups that belong on this OSD. */
export async function groupsOn(ports: SightPorts, osd: number): Promise<readonly string[]> {
  const { pgs } = await sightOf(ports, osd)
  return pgs.filter(({ up }) => up.includes(osd)).map(({ pgid }) => pgid)
}

/** Does it, and follows what Ceph says of it until all has been reported. */
export async function timeReports(ports: SightPorts, { osd, toUp, groups: ids, deed }: Change): Promise<ReportTimes> {
  const beganMs = ports.now()
  await deed()
  let sight = await sightOf(ports, osd)
  while (sight.isUp !== toUp) {
    await ports.pass()
    sight = await sightOf(ports, osd)
  }
  const { atMs: mapMs, epoch } = sight
  const isOf = ({ pgid }: PgAnswer) => ids.includes(pgid)
  const reported = new Map<string, number>()
  const states = new Set<string>()
  let mixed = 0
  for (;;) {
    const groups = sight.pgs.filter(isOf)
    const isNew = (pg: PgAnswer) => pg.reported_epoch >= epoch
    const news = groups.filter(isNew)
    for (const { pgid } of news) if (!reported.has(pgid)) reported.set(pgid, sight.atMs - mapMs)
    if (news.length > 0) mixed = Math.max(mixed, groups.length - news.length)
    for (const { state } of groups) states.add(state)
    if (news.length === groups.length && !groups.some(({ state }) => passing.test(state))) break
    await ports.pass()
    sight = await sightOf(ports, osd)
  }
  return {
    mapMs: mapMs - beganMs,
    reportMs: [...reported.values()].sort((a, b) => a - b),
    mixed,
    states: [...states].sort(),
    restMs: sight.atMs - mapMs,
  }
}
