import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { notNamedText } from '../../../shared/ceph-trust/named-clusters.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { GrowthDecision } from '../domain/decide-growth.ts'
import type { UpdateProgress } from '../domain/decision.ts'
import type { PaceState } from '../domain/pace-state.ts'
import type { UpdatableOsd, UpdatedCluster, UpdateRecord } from '../domain/snapshot.ts'
import { overrideInForce, overrideMeanings } from '../domain/update-override.ts'
import type { UpdateReport } from '../domain/update-report.ts'
import { parseUpdateSettings } from '../domain/update-settings.ts'

/** How far the update of one cluster's OSDs is, and how it grows. */
export interface UpdateSummary {
  /** `rook-ceph/rook-ceph` */
  readonly cluster: string
  /** `own`: the OSDs are the operator's. `plan`: only restarts, and on request. `pace`: Rook updates them in rounds. Left out where it is not known. */
  readonly mode?: UpdatedCluster['mode']
  /** A reason of docs/reference/reasons.md; left out where nothing is on record. */
  readonly reason?: string
  readonly explanation: string
  /** Progress of the last decision on record. */
  readonly progress?: Omit<UpdateProgress, 'secondsLeft'>
  readonly secondsLeft?: number
  readonly startedAt?: string
  readonly endedAt?: string
  /** How many were updated since the CephCluster changed last. */
  readonly updated: number
  /** OSDs that have a Deployment, right now; left out where they cannot be seen. */
  readonly osds?: number
  /** OSDs that are not what the CephCluster says, right now; left out where that cannot be seen. */
  readonly outdated?: number
  /** Ids of what is known not to start, and why; the first of many. */
  readonly blocked: UpdateReport['blocked']
  readonly failed: readonly FailedOsd[]
  /** The OSD that stopped the update. */
  readonly frozen?: FailedOsd
  /** The setting of the CephCluster that overrides the checks, and what it means. */
  readonly checksOff?: { readonly setting: string; readonly meaning: string }
  /** The last OSD of this update that was stopped against the checks, which placement groups lost what, and how many there were. */
  readonly overridden?: { readonly osd: number; readonly why: string; readonly since: string; readonly count: number }
  /** `require_osd_release` of Ceph lags behind what all OSDs run: how far, and what to do. */
  readonly releaseLag?: string
  readonly growth?: GrowthSummary
  /** Rook updates the OSDs in the rounds that Cofferdam opens. */
  readonly pace?: PaceSummary
  /** Whether an operator keeps the record up to date; left out where it is not known. */
  readonly isAttended?: boolean
}

export interface PaceSummary {
  /** How many rounds were opened since the last change. */
  readonly rounds: number
  /** OSDs that Rook may change now. */
  readonly open: readonly number[]
  /** OSDs that Rook has not been open to since the last change. */
  readonly pending: number
  /** What the round waits for. */
  readonly waitsFor: 'nothing' | 'a pass of Rook' | 'OSDs to come back'
}

export interface FailedOsd {
  readonly osd: number
  readonly why: string
  readonly since: string
  readonly wayOut: string
}

export interface GrowthSummary {
  /** Nodes and volume claims whose disks are being inspected. */
  readonly awaited: readonly string[]
  readonly failed: readonly { readonly place: string; readonly why: string }[]
  /** Places that cannot be inspected now. */
  readonly unusable: readonly { readonly place: string; readonly why: string }[]
  /** Ids of OSDs that are about to get their Deployment. */
  readonly adding: readonly number[]
}

export interface SeenUpdate {
  readonly cluster: CephCluster
  readonly mode: UpdatedCluster['mode'] | undefined
  /** False: the operator's administrator has not named it, so nothing is done about it. */
  readonly isNamed: boolean
  readonly report: UpdateReport | undefined
  /** Undefined where they may not be read. */
  readonly osds: readonly UpdatableOsd[] | undefined
  readonly growth: GrowthDecision | undefined
  readonly isAttended: boolean | undefined
}

export function summarizeUpdate(seen: SeenUpdate): UpdateSummary {
  const { cluster, mode, osds, growth, isAttended } = seen
  const report = seen.isNamed ? seen.report : undefined
  const { namespace = '', name } = cluster.metadata
  const outdated =
    mode !== 'off' ? osds?.filter(({ needsUpdate, leftAlone }) => needsUpdate && leftAlone === undefined) : undefined
  const failure = failureIn(namespace)
  return {
    cluster: `${namespace}/${name}`,
    ...(mode !== undefined && { mode }),
    ...(report !== undefined && report.reason !== '' && { reason: report.reason }),
    ...(!seen.isNamed && { reason: notNamed }),
    explanation: seen.isNamed ? (report?.explanation ?? 'nothing is on record about an update') : notNamedText,
    ...(report?.progress && { progress: report.progress }),
    ...(report?.secondsLeft !== undefined && { secondsLeft: report.secondsLeft }),
    ...timeField('startedAt', report?.startedMs),
    ...timeField('endedAt', report?.lastEndedMs),
    updated: report?.done ?? 0,
    ...(osds !== undefined && { osds: osds.length }),
    ...(outdated !== undefined && { outdated: outdated.length }),
    blocked: report?.blocked ?? [],
    failed: (report?.failed ?? []).map((each) => failure(each, false)),
    ...(report?.frozen && { frozen: failure(report.frozen, true) }),
    ...checksOf(seen),
    ...(report?.releaseLag !== undefined && { releaseLag: report.releaseLag }),
    ...(growth && { growth: growthOf(growth) }),
    ...(mode === 'pace' && report?.pace !== undefined && { pace: paceOf(report.pace) }),
    ...(isAttended !== undefined && { isAttended }),
  }
}

function paceOf({ open, pending, rounds }: PaceState): PaceSummary {
  const isAwaited = open.some(({ touchedMs }) => touchedMs === undefined)
  const waitsFor = open.length === 0 ? 'nothing' : isAwaited ? 'a pass of Rook' : 'OSDs to come back'
  return { rounds, open: open.map(({ osd }) => osd), pending: pending.length, waitsFor }
}

function checksOf({
  cluster,
  mode,
  osds,
  isNamed,
  report,
}: SeenUpdate): Pick<UpdateSummary, 'checksOff' | 'overridden'> {
  const setting = overrideInForce(parseUpdateSettings(cluster).settings)
  const isWanted = osds?.some(({ needsUpdate }) => needsUpdate) === true
  const isInForce = setting !== undefined && isNamed && (mode === 'own' || (mode !== 'off' && isWanted))
  const { overrides, startedMs } = report ?? {}
  const isOfThis = overrides !== undefined && startedMs !== undefined && overrides.last.atMs >= startedMs
  const { osd, why, atMs } = overrides?.last ?? { osd: 0, why: '', atMs: 0 }
  return {
    ...(isInForce && { checksOff: { setting, meaning: overrideMeanings[setting] } }),
    ...(isNamed && isOfThis && { overridden: { osd, why, since: rfc3339(atMs), count: overrides.count } }),
  }
}

const notNamed: Reason = 'ClusterNotNamed'
const calmReasons: readonly Reason[] = [notNamed, 'OsdsUpToDate', 'OsdUpdateOff', 'ClusterDeleted']
const calm: readonly (string | undefined)[] = [...calmReasons, undefined]

/** How long it is reported that an update ended. */
const notableMs = 3_600_000

/** Whether there is anything to report but that every OSD is as it should be. */
export function isUpdateNotable(summary: UpdateSummary, nowMs: number): boolean {
  const { reason, progress, outdated = 0, blocked, failed, frozen, growth, updated, endedAt } = summary
  if (summary.checksOff !== undefined || summary.releaseLag !== undefined) return true
  if (!calm.includes(reason) || frozen !== undefined || failed.length > 0) return true
  if ((progress?.running.length ?? 0) > 0 || (progress?.blocked ?? blocked.length) > 0) return true
  if (summary.mode !== 'off' && outdated > 0) return true
  if (growth !== undefined && isGrowthNotable(growth)) return true
  const endedMs = parseRfc3339(endedAt ?? '')
  return updated > 0 && endedMs !== undefined && nowMs - endedMs < notableMs
}

export function isGrowthNotable({ awaited, failed, unusable, adding }: GrowthSummary): boolean {
  return awaited.length + failed.length + unusable.length + adding.length > 0
}

/** What whoever is in charge can do about an OSD that did not come back. */
export function failureIn(
  namespace: string,
): (failure: UpdateRecord['failed'][number], isFrozen: boolean) => FailedOsd {
  return ({ osd, why, atMs }, isFrozen) => ({
    osd,
    why,
    since: rfc3339(atMs),
    wayOut: `kubectl -n ${namespace} describe pod -l app=rook-ceph-osd,ceph-osd-id=${osd} shows what is wrong; ${
      isFrozen
        ? 'the update continues when it is back, or when the CephCluster changes, for example back to the previous image'
        : 'it is tried again when the CephCluster changes'
    }`,
  })
}

function growthOf({ awaited, prepare, errors, unusable, create }: GrowthDecision): GrowthSummary {
  return {
    awaited: [...new Set([...awaited, ...prepare])].sort(),
    failed: errors,
    unusable,
    adding: create.map(({ id }) => id),
  }
}

function timeField<Key extends 'startedAt' | 'endedAt'>(
  key: Key,
  ms: number | undefined,
): { readonly [K in Key]?: string } {
  return ms === undefined ? {} : ({ [key]: rfc3339(ms) } as { readonly [K in Key]: string })
}
