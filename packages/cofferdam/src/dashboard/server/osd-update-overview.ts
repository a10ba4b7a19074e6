import type { UpdatableOsd } from '../../capabilities/osd-update/domain/snapshot.ts'
import type { UpdateReport } from '../../capabilities/osd-update/domain/update-report.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { PlacedOsd } from './placed-osds.ts'

export type OsdState = 'done' | 'on-the-way' | 'waits' | 'blocked' | 'failed'

/**
 * The update of a cluster's OSDs, in parts, so that of ten thousand OSDs only what changed goes to the page: how it stands, the
 * plan, and what is on each host.
 */
export type UpdatePart = UpdateOverview | UpdatePlan | UpdateHost

interface Part {
  readonly id: string
  /** `namespace/name` of the CephCluster. */
  readonly of: string
}

export interface UpdateOverview extends Part {
  readonly piece: 'board'
  readonly cluster: string
  readonly reason: string
  readonly explanation: string
  readonly total: number
  readonly done: number
  readonly running: number
  readonly waiting: number
  readonly blocked: number
  readonly roundsLeft: number
  readonly lowerBound: number
  readonly secondsLeft?: number
  /** Why all others wait: the first that did not come back. */
  readonly frozenBy?: number
  /** The OSD that is restarting although the checks refused it. */
  readonly overridden?: OsdNote
  /** The first few OSDs that did not come back. */
  readonly failures: readonly OsdNote[]
  readonly failed: number
  /** The first few OSDs that cannot go now. */
  readonly hindrances: readonly OsdNote[]
  /** When the last OSD that was started came back; absent while some are to come. */
  readonly endedMs?: number
}

export interface OsdNote {
  readonly osd: number
  readonly why: string
}

export interface UpdatePlan extends Part {
  readonly piece: 'plan'
  readonly rounds: readonly (readonly number[])[]
}

export interface UpdateHost extends Part {
  readonly piece: 'host'
  readonly host: string
  /** What it stands in, from the widest: `zone a`, `rack r1`. */
  readonly within: readonly string[]
  /** In the order of their ids. */
  readonly osds: readonly (readonly [id: number, state: OsdState])[]
}

const failuresShown = 8
const hindrancesShown = 3

export interface SeenUpdate {
  /** `namespace/name` of the CephCluster. */
  readonly of: string
  readonly report: UpdateReport
  readonly osds: readonly PlacedOsd[]
}

export function buildUpdateParts(seen: SeenUpdate): readonly UpdatePart[] {
  const { of, report } = seen
  const states = statesOf(seen)
  return [
    buildOverview(seen, states),
    ...(report.plan === undefined || report.plan.length === 0
      ? []
      : [{ piece: 'plan' as const, id: `plan ${of}`, of, rounds: report.plan }]),
    ...buildHosts(seen, states),
  ]
}

/** What the record says goes before what the Deployments look like: it knows what Ceph said. */
function statesOf({ osds, report }: SeenUpdate): ReadonlyMap<number, OsdState> {
  const failed = new Set(report.failed.map(({ osd }) => osd))
  const running = new Set(report.progress?.running)
  const held = new Set(report.blocked.map(({ osd }) => osd))
  // The record names only some of them.
  const areAllHeld = report.reason === ('OsdUpdateBlocked' satisfies Reason)
  const stateOf = ({ id, needsUpdate, problem, leftAlone }: UpdatableOsd): OsdState => {
    if (failed.has(id)) return 'failed'
    if (running.has(id)) return 'on-the-way'
    if (problem !== undefined || (needsUpdate && leftAlone !== undefined)) return 'blocked'
    if (!needsUpdate) return 'done'
    // Beside others that are restarting it only waits for them.
    return areAllHeld || (held.has(id) && running.size === 0) ? 'blocked' : 'waits'
  }
  return new Map(osds.map((osd) => [osd.id, stateOf(osd)]))
}

function buildOverview({ of, report, osds }: SeenUpdate, states: ReadonlyMap<number, OsdState>): UpdateOverview {
  const { progress, secondsLeft, frozen, lastEndedMs } = report
  const counts = { done: 0, 'on-the-way': 0, waits: 0, blocked: 0, failed: 0 }
  for (const state of states.values()) counts[state] += 1
  const isOver = report.reason === ('OsdsUpToDate' satisfies Reason)
  return {
    piece: 'board',
    id: `board ${of}`,
    of,
    cluster: report.cluster,
    reason: report.reason,
    explanation: report.explanation,
    total: osds.length,
    done: counts.done,
    running: counts['on-the-way'],
    waiting: counts.waits,
    blocked: counts.blocked,
    failed: counts.failed,
    roundsLeft: progress?.roundsLeft ?? 0,
    lowerBound: progress?.lowerBound ?? 0,
    ...(secondsLeft === undefined ? {} : { secondsLeft }),
    ...(frozen === undefined ? {} : { frozenBy: frozen.osd }),
    ...overriddenOf(report),
    failures: report.failed.slice(0, failuresShown).map(({ osd, why }) => ({ osd, why })),
    hindrances: report.blocked.filter(({ osd }) => states.get(osd) === 'blocked').slice(0, hindrancesShown),
    ...(isOver && lastEndedMs !== undefined ? { endedMs: lastEndedMs } : {}),
  }
}

function overriddenOf({ overrides, progress }: UpdateReport): Pick<UpdateOverview, 'overridden'> {
  if (overrides === undefined || progress?.running.includes(overrides.last.osd) !== true) return {}
  return { overridden: { osd: overrides.last.osd, why: overrides.last.why } }
}

function buildHosts({ of, osds }: SeenUpdate, states: ReadonlyMap<number, OsdState>): UpdateHost[] {
  const hosts = new Map<string, { within: readonly string[]; osds: [number, OsdState][] }>()
  for (const { id, host, within } of osds) {
    const square: [number, OsdState] = [id, states.get(id) ?? 'waits']
    const known = hosts.get(host)
    if (known === undefined) hosts.set(host, { within, osds: [square] })
    else known.osds.push(square)
  }
  return [...hosts].map(([host, { within, osds: squares }]) => ({
    piece: 'host',
    id: `host ${of} ${host}`,
    of,
    host,
    within,
    osds: squares.sort(([a], [b]) => a - b),
  }))
}
