import type { Observed } from '../../../shared/observed.ts'
import { type GrowthPlace, generationAsked, prepareAgainAnnotation } from './growth-places.ts'
import { judgeOrigin, whyRefused } from './judge-result.ts'
import type { NewOsd } from './new-osd.ts'
import type { PrepareJob } from './prepare-job.ts'
import type { ParsedPrepareStatus, PrepareStatus } from './prepare-status.ts'

/** What is seen before new OSDs are added to one cluster. Nothing of an update is part of it: growth never waits for one. */
export interface GrowthSnapshot {
  readonly generation: number
  readonly isBeingDeleted: boolean
  /** Each once, in the order of their names. */
  readonly places: readonly GrowthPlace[]
  readonly jobs: readonly PrepareJob[]
  readonly statuses: readonly ParsedPrepareStatus[]
  /** Ids of all OSDs that have a Deployment. */
  readonly existing: ReadonlySet<number>
  /** The UUIDs of all OSDs that Ceph knows. Absent: it was not asked, as while no result waits. */
  readonly ceph?: Observed<ReadonlyMap<number, string>>
}

export interface GrowthDecision {
  /** OSDs to create a Deployment for. */
  readonly create: readonly NewOsd[]
  /** Places whose prepare Job is to start, with a status of `starting`. */
  readonly prepare: readonly string[]
  /** Jobs to delete: of an earlier inspection, of a place that is not wanted any more, or with its result used. */
  readonly cleanJobs: readonly string[]
  /** Status ConfigMaps whose result is used up by this decision, whether every OSD can be created or not. */
  readonly used: readonly string[]
  /** Status ConfigMaps of earlier inspections; that of a place to prepare is written anew instead. */
  readonly cleanStatuses: readonly string[]
  readonly errors: readonly { readonly place: string; readonly why: string }[]
  /** Places whose Job has not ended. */
  readonly awaited: readonly string[]
  /** Places that cannot be prepared now, and why. */
  readonly unusable: readonly { readonly place: string; readonly why: string }[]
  /** Results wait for what Ceph knows of their OSDs. */
  readonly needsCeph: boolean
}

/**
 * What to do next so that every disk that the CephCluster wants has its OSD.
 *
 * Guarantees: only OSDs without a Deployment are created, each once; a result is used once; what an earlier inspection left behind is
 * never used, nor what no succeeded Job of ours left, nor an OSD that Ceph does not know; a failed place keeps no other one from its OSDs. Asked again after a crash it goes on where it was.
 */
export function decideGrowth(snapshot: GrowthSnapshot): GrowthDecision {
  const { generation, isBeingDeleted, places, jobs } = snapshot
  if (isBeingDeleted) return { ...nothing, cleanJobs: jobs.map(({ name }) => name).sort() }
  const asked = new Map(places.map((place) => [place.name, place.asked]))
  const parsed = snapshot.statuses.map((status) => ('status' in status ? status.status : status))
  const byPlace = new Map(
    parsed.filter((status) => status.asked === asked.get(status.place)).map((status) => [status.place, status]),
  )
  const create = new Map<number, NewOsd>()
  const errors: { place: string; why: string }[] = []
  const unusable: { place: string; why: string }[] = []
  const [prepare, used, awaited]: [string[], string[], string[]] = [[], [], []]
  let needsCeph = false
  const cleanJobs = new Set(
    jobs.filter((job) => job.asked === undefined || job.asked !== asked.get(job.place)).map(({ name }) => name),
  )
  for (const wanted of places) {
    const { name: place } = wanted
    const status = byPlace.get(place)
    const own = jobs.filter((job) => job.place === place)
    const job = own.find((one) => one.asked === wanted.asked)
    if (status !== undefined && 'problem' in status) errors.push({ place, why: `${status.name}: ${status.problem}` })
    else if (status?.state === 'completed') useResult(status, { job, place: wanted })
    else if (status?.state === 'failed')
      errors.push({ place, why: status.message || 'its prepare Job says that it failed' })
    else if (job?.state === 'failed') errors.push({ place, why: `Job ${job.name} failed before it gave a result` })
    else if (job?.state === 'succeeded') errors.push({ place, why: `Job ${job.name} ended without a result` })
    // A Job has its place's name: the old one has to be gone first.
    else if (job !== undefined || own.length > 0) awaited.push(place)
    else if (wanted.unusable !== undefined) unusable.push({ place, why: wanted.unusable })
    else prepare.push(place)
  }
  const isPast = (status: { readonly place: string; readonly asked: string | undefined }) => {
    const wanted = asked.get(status.place)
    if (wanted !== undefined) return status.asked !== wanted && !prepare.includes(status.place)
    // The result of a place that may be wanted again soon is kept for as long as the cluster is the same.
    return generationAsked(status.asked) !== generation
  }
  return {
    create: [...create.values()].sort((a, b) => a.id - b.id),
    prepare,
    cleanJobs: [...cleanJobs].sort(),
    used,
    cleanStatuses: parsed
      .filter(isPast)
      .map(({ name }) => name)
      .sort(),
    errors,
    awaited,
    unusable,
    needsCeph,
  }

  function useResult(status: PrepareStatus, by: { readonly job: PrepareJob | undefined; readonly place: GrowthPlace }) {
    if (status.trouble !== undefined) errors.push({ place: status.place, why: status.trouble })
    // Only then: while its result is not used up, a Job is the proof of it.
    if (status.isUsed && by.job !== undefined) cleanJobs.add(by.job.name)
    if (status.isUsed) return
    const origin = judgeOrigin(status, by.job)
    if (origin === 'awaited') return void awaited.push(status.place)
    if (origin !== 'ours') return refuse(status, origin.why)
    const fresh = status.osds.filter(({ id }) => !snapshot.existing.has(id))
    if (fresh.length > 0) {
      const { ceph } = snapshot
      if (ceph?.known !== true) {
        needsCeph = true
        return void awaited.push(status.place)
      }
      const why = whyRefused(fresh, { place: by.place, known: ceph.value })
      if (why !== undefined) return refuse(status, why)
    }
    used.push(status.name)
    for (const osd of fresh) {
      if (create.has(osd.id))
        errors.push({ place: status.place, why: `osd.${osd.id} is reported by another place too` })
      else create.set(osd.id, osd)
    }
  }

  function refuse({ place, name }: PrepareStatus, why: string): void {
    const wayOut = `check who edits it, then annotate the CephCluster with ${prepareAgainAnnotation}`
    errors.push({ place, why: `ConfigMap ${name} is refused: ${why}; ${wayOut}` })
  }
}

const nothing: GrowthDecision = {
  create: [],
  prepare: [],
  cleanJobs: [],
  used: [],
  cleanStatuses: [],
  errors: [],
  awaited: [],
  unusable: [],
  needsCeph: false,
}
