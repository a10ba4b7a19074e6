import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap, Node } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { buildOsdDeployment } from './build-osd-deployment.ts'
import { decideGrowth, type GrowthDecision, type GrowthSnapshot } from './decide-growth.ts'
import { type GrowthPlace, placedOsd } from './growth-places.ts'
import type { GrowthOutcome, GrowthStep, NewDeployment, PrepareStart, UsedStatus } from './growth-steps.ts'
import { type NewOsd, preparedPlace } from './new-osd.ts'
import { type PrepareStatus, statusMapName } from './prepare-status.ts'

/** One snapshot of a cluster, and the objects that it was made of, by their names. */
export interface ObservedGrowth {
  readonly snapshot: GrowthSnapshot
  readonly nodes: readonly Node[]
  readonly jobs: ReadonlyMap<string, Job>
  readonly statuses: ReadonlyMap<string, ConfigMap>
}

export interface GrowthPassSnapshot {
  readonly cluster: CephCluster
  readonly rookImage: string
  /** Stays the same from the first write on: what is written is what was decided on it, or nothing. */
  readonly observed: ObservedGrowth
  /** The CephCluster is not any more what the pass began with: the change has asked for another one. */
  readonly isVoid: boolean
  readonly heard: HeardInGrowth
}

/** What came of the writes of this pass; those that a change of the cluster prevented are left out. */
export interface HeardInGrowth {
  readonly hasUuids?: true
  readonly made?: readonly { readonly osd: number; readonly place: string; readonly outcome: GrowthOutcome }[]
  readonly marked?: readonly GrowthOutcome[]
  readonly begun?: readonly { readonly place: string; readonly outcome: GrowthOutcome }[]
  readonly swept?: readonly GrowthOutcome[]
}

export interface GrowthPassDecision {
  readonly steps: readonly GrowthStep[]
  readonly recheckAfterSeconds: number | undefined
  /** What went wrong and is not about one object: reported as the failure of the pass. */
  readonly trouble?: unknown
}

/** Ceph did not answer; no event says when it does. */
const askAgainSeconds = 10

/**
 * What a pass does next: ask Ceph about the OSDs of results that wait, make their Deployments, mark the results as used, start
 * prepare Jobs, remove what is left of earlier ones, report.
 *
 * Guarantees: a result is used up only after each of its OSDs was tried. A failed place is reported and the others go on.
 */
export function decideGrowthPass(pass: GrowthPassSnapshot): GrowthPassDecision {
  const { observed, heard, isVoid } = pass
  const decision = decideGrowth(observed.snapshot)
  const recheckAfterSeconds = decision.needsCeph ? askAgainSeconds : undefined
  if (decision.needsCeph && heard.hasUuids !== true)
    return { steps: [{ do: 'ask', ask: 'uuids' }], recheckAfterSeconds }
  const write = isVoid ? undefined : nextWrite(pass, decision)
  if (write !== undefined) return { steps: [write], recheckAfterSeconds }
  const { made = [], marked = [], begun = [], swept = [] } = heard
  const outcomes = [...[...made, ...begun].map(({ outcome }) => outcome), ...marked, ...swept]
  const unsure = outcomes.find((outcome) => outcome.result === 'unsure')
  return {
    steps: [{ do: 'report', report: reportOf(pass, decision) }],
    recheckAfterSeconds,
    ...(unsure?.result === 'unsure' && { trouble: unsure.error }),
  }
}

function nextWrite(pass: GrowthPassSnapshot, decision: GrowthDecision): GrowthStep | undefined {
  const { observed, heard } = pass
  if (heard.made === undefined && decision.create.length > 0) {
    return { do: 'write', write: 'osds', osds: decision.create.map((osd) => deploymentOf(pass, osd)) }
  }
  if (heard.marked === undefined) {
    const used = decision.used.flatMap((name) => usedStatus(pass, decision, name))
    if (used.length > 0) return { do: 'write', write: 'used', used }
  }
  if (heard.begun === undefined && decision.prepare.length > 0) {
    return { do: 'write', write: 'prepares', prepares: decision.prepare.map((name) => prepareOf(pass, name)) }
  }
  if (heard.swept !== undefined) return undefined
  const jobs = decision.cleanJobs
    .map((name) => observed.jobs.get(name) as Job)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const statuses = decision.cleanStatuses.map((name) => observed.statuses.get(name) as ConfigMap)
  return jobs.length + statuses.length === 0 ? undefined : { do: 'write', write: 'removals', jobs, statuses }
}

function deploymentOf({ cluster, observed }: GrowthPassSnapshot, osd: NewOsd): NewDeployment {
  const place = placeNamed(observed, preparedPlace(osd))
  const placed = placedOsd(osd, { cluster, place, nodes: observed.nodes })
  return { osd: osd.id, place: place.name, deployment: buildOsdDeployment(cluster, placed) }
}

/** Whether all of its OSDs could be made or not, but not before each was tried. */
function usedStatus({ observed, heard }: GrowthPassSnapshot, { create }: GrowthDecision, name: string): UsedStatus[] {
  const status = observed.statuses.get(name) as ConfigMap
  const { place } = observed.snapshot.statuses
    .map((one) => ('status' in one ? one.status : one))
    .find((one) => one.name === name) as PrepareStatus
  const made = (heard.made ?? []).filter((one) => one.place === place)
  const tried = new Map(made.map(({ osd, outcome }) => [osd, outcome]))
  const isLeft = ({ id }: NewOsd) => (tried.get(id)?.result ?? 'unsure') === 'unsure'
  if (create.some((osd) => preparedPlace(osd) === place && isLeft(osd))) return []
  const trouble = [...tried].flatMap(([id, outcome]) =>
    outcome.result === 'refused' ? [`osd.${id} was refused: ${outcome.why}`] : [],
  )
  return [{ status, trouble: trouble.join('; ') }]
}

function prepareOf({ cluster, observed, rookImage }: GrowthPassSnapshot, name: string): PrepareStart {
  const previous = observed.statuses.get(statusMapName(name))
  return { cluster, place: placeNamed(observed, name), rookImage, previous }
}

function reportOf({ observed, heard }: GrowthPassSnapshot, decision: GrowthDecision) {
  const asked = new Map(observed.snapshot.places.map((place) => [place.name, place.asked]))
  const { made = [], begun = [] } = heard
  return {
    added: made.filter(({ outcome }) => outcome.result === 'made').map(({ osd, place }) => ({ id: osd, place })),
    prepared: begun.flatMap(({ place, outcome }) => (outcome.result === 'made' ? [place] : [])),
    // What was refused just now is in the statuses, which the next pass reads.
    errors: decision.errors.map(({ place, why }) => ({ place, why, asked: asked.get(place) as string })),
    awaited: decision.awaited.length + decision.prepare.length,
    unusable: decision.unusable.length,
  }
}

/** Assumes: a decision on this snapshot names it. */
function placeNamed({ snapshot }: ObservedGrowth, name: string): GrowthPlace {
  return snapshot.places.find((one) => one.name === name) as GrowthPlace
}
