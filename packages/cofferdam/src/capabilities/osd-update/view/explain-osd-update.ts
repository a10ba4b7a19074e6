import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { UpdatableOsd } from '../domain/snapshot.ts'
import type { UpdateReport } from '../domain/update-report.ts'
import { failureIn, type SeenUpdate } from './summarize-update.ts'

/** How far the update of one OSD is. */
export interface OsdUpdateAnswer {
  /** `rook-ceph/rook-ceph` */
  readonly cluster: string
  readonly osd: number
  /**
   * `done`: it is what the CephCluster says. `running`: stopped and not known to be back. `waits`: it is queued and starts by itself.
   * `blocked`: something has to end first. `failed`: it did not come back. `left-alone`: somebody wants it as it is.
   */
  readonly state: 'done' | 'running' | 'waits' | 'blocked' | 'failed' | 'left-alone' | 'unknown'
  readonly explanation: string
  /** A reason of docs/reference/reasons.md, where the whole update has one to say. */
  readonly reason?: string
  readonly since?: string
  /** What can be done about it. */
  readonly wayOut?: string
  /** Its round in the plan on record: the first is 1. */
  readonly round?: number
  readonly rounds?: number
}

/** Whether the update of an OSD is done, restarting, or waits for what: by the record, and by what its Deployment says now. */
export function explainOsdUpdate(seen: SeenUpdate, id: number): OsdUpdateAnswer {
  const { namespace = '', name } = seen.cluster.metadata
  const about = { cluster: `${namespace}/${name}`, osd: id }
  const osd = seen.osds?.find((one) => one.id === id)
  const { report } = seen
  const failure = report?.failed.find((one) => one.osd === id)
  if (failure !== undefined && report !== undefined) {
    const { why, since, wayOut } = failureIn(namespace)(failure, report.frozen?.osd === id)
    return { ...about, state: 'failed', explanation: why, reason: report.reason, since, wayOut }
  }
  if (osd === undefined) {
    const explanation = seen.osds === undefined ? 'its Deployment cannot be seen' : 'it has no Deployment'
    return { ...about, state: 'unknown', explanation }
  }
  if (osd.problem !== undefined) return { ...about, state: 'blocked', explanation: osd.problem }
  if (report?.progress?.running.includes(id)) return { ...about, ...runningAnswer(osd, report) }
  if (!osd.needsUpdate) return { ...about, state: 'done', explanation: 'it is what the CephCluster says' }
  if (osd.leftAlone !== undefined) return { ...about, state: 'left-alone', explanation: osd.leftAlone }
  return { ...about, ...pendingAnswer(seen, id) }
}

type OsdState = Omit<OsdUpdateAnswer, 'cluster' | 'osd'>

function runningAnswer({ id, startedMs, isPodReady, awaitsRook }: UpdatableOsd, { overrides }: UpdateReport): OsdState {
  const against =
    overrides?.last.osd === id ? `; it was stopped although the checks refused it, by ${overrides.last.why}` : ''
  const stopped = isPodReady
    ? 'its pod is ready; Ceph must have it up with all its placement groups peered'
    : 'it was stopped, and its new pod is not ready yet'
  const explanation = awaitsRook ? "it is open to Rook's next pass, which has not updated it yet" : stopped
  const since = startedMs === undefined ? {} : { since: rfc3339(startedMs) }
  return { state: 'running', explanation: `${explanation}${against}`, ...since }
}

/** Reasons that hold no OSD back. */
const goingOn: readonly string[] = ['OsdsUpdating', 'OsdUpdateBlocked', 'OsdsUpToDate'] satisfies readonly Reason[]
/** Reasons that end by themselves. */
const passing: readonly string[] = ['OsdUpdateSoaks', 'DrainFirst'] satisfies readonly Reason[]

function pendingAnswer({ report, mode, isAttended }: SeenUpdate, id: number): OsdState {
  if (mode === 'off')
    return { state: 'blocked', explanation: 'updates of OSDs are switched off', reason: 'OsdUpdateOff' }
  if (report === undefined) {
    const nobody = isAttended === false ? ': no operator is running' : ''
    return { state: isAttended === false ? 'blocked' : 'waits', explanation: `it has not started yet${nobody}` }
  }
  const reasoned = reasonOf(report)
  const isHeld = reasoned.reason !== undefined && !goingOn.includes(reasoned.reason)
  if (isHeld && passing.includes(reasoned.reason))
    return { state: 'waits', explanation: report.explanation, ...reasoned }
  if (isHeld) return { state: 'blocked', explanation: report.explanation, ...reasoned, ...wayOutOf(report) }
  const block = report.blocked.find(({ osd }) => osd === id)
  const isMoving = (report.progress?.running.length ?? 0) > 0
  if (block !== undefined) {
    const after = isMoving ? 'it waits for OSDs that are restarting: ' : ''
    return { state: isMoving ? 'waits' : 'blocked', explanation: `${after}${block.why}`, ...reasoned }
  }
  const at = report.plan?.findIndex((round) => round.includes(id)) ?? -1
  if (at < 0 || report.plan === undefined) return { state: 'waits', explanation: 'it is queued', ...reasoned }
  const turn = { round: at + 1, rounds: report.plan.length }
  return { state: 'waits', explanation: `it is queued for round ${turn.round} of ${turn.rounds}`, ...reasoned, ...turn }
}

function wayOutOf({ frozen, namespace }: UpdateReport): { readonly wayOut?: string } {
  return frozen === undefined ? {} : { wayOut: failureIn(namespace)(frozen, true).wayOut }
}

function reasonOf(report: UpdateReport | undefined): { readonly reason?: string } {
  return report === undefined || report.reason === '' ? {} : { reason: report.reason }
}
