import type { Deployment } from '../api/apps.ts'
import type { Pod } from '../api/core.ts'
import type { UpdatableOsd } from '../domain/osd-update/snapshot.ts'
import type { UpdateReport } from '../domain/osd-update/update-report.ts'
import type { Reason } from '../domain/reasons.ts'

export type OsdState = 'done' | 'on-the-way' | 'waits' | 'blocked' | 'failed'

/**
 * The update of a cluster's OSDs, in pieces, so that of ten thousand OSDs only what changed goes to the page: how it stands, the
 * plan, and what is on each host.
 */
export type UpdatePiece = UpdateBoard | UpdatePlan | UpdateHost

interface Piece {
  readonly id: string
  /** `namespace/name` of the CephCluster. */
  readonly of: string
}

export interface UpdateBoard extends Piece {
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
  /** Of those that did not come back, the first few. */
  readonly failures: readonly OsdNote[]
  readonly failed: number
  /** Of those that cannot go now, the first few. */
  readonly hindrances: readonly OsdNote[]
  /** When the last OSD that was started came back; absent while some are to come. */
  readonly endedMs?: number
}

export interface OsdNote {
  readonly osd: number
  readonly why: string
}

export interface UpdatePlan extends Piece {
  readonly piece: 'plan'
  readonly rounds: readonly (readonly number[])[]
}

export interface UpdateHost extends Piece {
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
  readonly osds: readonly UpdatableOsd[]
  readonly deployments: readonly Deployment[]
  readonly pods: readonly Pod[]
}

export function buildUpdatePieces(seen: SeenUpdate): readonly UpdatePiece[] {
  const { of, report } = seen
  const states = statesOf(seen)
  return [
    buildBoard(seen, states),
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
    // Beside others that are on their way it only waits for them.
    return areAllHeld || (held.has(id) && running.size === 0) ? 'blocked' : 'waits'
  }
  return new Map(osds.map((osd) => [osd.id, stateOf(osd)]))
}

function buildBoard({ of, report, osds }: SeenUpdate, states: ReadonlyMap<number, OsdState>): UpdateBoard {
  const { progress, secondsLeft, frozen, lastEndedMs } = report
  const inState = (wanted: OsdState) => [...states.values()].filter((state) => state === wanted).length
  const isOver = report.reason === ('OsdsUpToDate' satisfies Reason)
  return {
    piece: 'board',
    id: `board ${of}`,
    of,
    cluster: report.cluster,
    reason: report.reason,
    explanation: report.explanation,
    total: osds.length,
    done: inState('done'),
    running: inState('on-the-way'),
    waiting: inState('waits'),
    blocked: inState('blocked'),
    failed: inState('failed'),
    roundsLeft: progress?.roundsLeft ?? 0,
    lowerBound: progress?.lowerBound ?? 0,
    ...(secondsLeft === undefined ? {} : { secondsLeft }),
    ...(frozen === undefined ? {} : { frozenBy: frozen.osd }),
    failures: report.failed.slice(0, failuresShown).map(({ osd, why }) => ({ osd, why })),
    hindrances: report.blocked.filter(({ osd }) => states.get(osd) === 'blocked').slice(0, hindrancesShown),
    ...(isOver && lastEndedMs !== undefined ? { endedMs: lastEndedMs } : {}),
  }
}

/** Types of CRUSH from the widest; hosts and what is below them make no groups of hosts. */
const widest = ['region', 'zone', 'datacenter', 'room', 'pod', 'pdu', 'row', 'rack', 'chassis'] as const

function buildHosts({ of, deployments, pods }: SeenUpdate, states: ReadonlyMap<number, OsdState>): UpdateHost[] {
  const nodes = new Map(pods.map(({ metadata, spec }) => [osdOf(metadata.labels), spec.nodeName]))
  const hosts = new Map<string, { within: readonly string[]; osds: [number, OsdState][] }>()
  const seen = new Set<number>()
  for (const deployment of deployments) {
    const { labels } = deployment.metadata
    const id = osdOf(labels)
    const state = id === undefined ? undefined : states.get(id)
    if (id === undefined || state === undefined || seen.has(id)) continue
    seen.add(id)
    const selected = deployment.spec.template.spec.nodeSelector?.['kubernetes.io/hostname']
    const host = labels?.['topology-location-host'] ?? selected ?? nodes.get(id) ?? ''
    const known = hosts.get(host)
    if (known === undefined) hosts.set(host, { within: withinOf(labels), osds: [[id, state]] })
    else known.osds.push([id, state])
  }
  return [...hosts].map(([host, { within, osds }]) => ({
    piece: 'host',
    id: `host ${of} ${host}`,
    of,
    host,
    within,
    osds: osds.sort(([a], [b]) => a - b),
  }))
}

function withinOf(labels: Readonly<Record<string, string>> | undefined): readonly string[] {
  return widest.flatMap((type) => {
    const place = labels?.[`topology-location-${type}`]
    return place === undefined ? [] : [`${type} ${place}`]
  })
}

function osdOf(labels: Readonly<Record<string, string>> | undefined): number | undefined {
  const text = labels?.['ceph-osd-id'] ?? labels?.['osd']
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
