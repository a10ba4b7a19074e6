import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { configMaps, jobs } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { buildClaim, buildPrepareJob, buildStartingStatus } from '../domain/build-prepare-job.ts'
import type { GrowthOutcome, PrepareStart, UsedStatus } from '../domain/growth-steps.ts'
import { generationAnnotation, nonceAnnotation, troubleAnnotation, usedAnnotation } from '../domain/prepare-status.ts'
import { isRightMissing } from '../domain/start-outcome.ts'

interface StartingPrepare extends PrepareStart {
  /** For a new Job; one that is begun with keeps what its status says. */
  readonly nonce: string
}

/**
 * Claim, status, Job, in this order: whoever is interrupted in between is carried on by the next pass.
 *
 * Guarantees: what the server does not take is written into the status, so that it is reported and not tried again and again.
 */
export async function startPrepare(api: KubeApi, given: StartingPrepare, signal: AbortSignal): Promise<GrowthOutcome> {
  const { cluster, place, rookImage } = given
  const claim = place.claim?.isMissing === true ? buildClaim(cluster, place) : undefined
  const claimed = claim && (await outcomeOf(() => api.create(persistentVolumeClaims, claim, { signal })))
  if (claimed?.result === 'unsure') return claimed
  let status: ConfigMap | undefined
  const begun = await outcomeOf(async () => {
    status = await writeStarting(api, given, signal)
  })
  if (status === undefined) return begun
  const nonce = (status as ConfigMap).metadata.annotations?.[nonceAnnotation] ?? ''
  const isClaimRefused = claimed?.result === 'refused'
  const job = isClaimRefused
    ? claimed
    : await outcomeOf(() => api.create(jobs, buildPrepareJob(cluster, place, { rookImage, nonce }), { signal }))
  if (job.result !== 'refused') return job
  const message = `the API server refused ${isClaimRefused ? 'its claim' : 'its prepare Job'}: ${job.why}`
  const failed = failedStatus(status, message)
  const written = await outcomeOf(() => api.update(configMaps, failed, { signal }))
  return written.result === 'unsure' ? written : job
}

async function writeStarting(
  api: KubeApi,
  { cluster, place, previous, nonce }: StartingPrepare,
  signal: AbortSignal,
): Promise<ConfigMap> {
  const starting = buildStartingStatus(cluster, place, { nonce })
  if (previous === undefined) return api.create(configMaps, starting, { signal })
  // It began before, and only its Job is missing.
  const { [generationAnnotation]: asked, [nonceAnnotation]: begunWith = '' } = previous.metadata.annotations ?? {}
  if (asked === place.asked && /^[a-z0-9]{8,64}$/.test(begunWith)) return previous
  const { resourceVersion } = previous.metadata
  const metadata = { ...starting.metadata, ...(resourceVersion !== undefined && { resourceVersion }) }
  return api.update(configMaps, { ...starting, metadata }, { signal })
}

function failedStatus(status: ConfigMap, message: string): ConfigMap {
  const text = JSON.stringify({ osds: [], status: 'failed', 'pvc-backed-osd': false, message })
  return { ...status, data: { ...status.data, status: text } }
}

/** Only if it still is what the OSDs were made from: a newer result must not pass for used. */
export function markUsed(api: KubeApi, { status, trouble }: UsedStatus, signal: AbortSignal): Promise<GrowthOutcome> {
  const annotations = {
    ...status.metadata.annotations,
    [usedAnnotation]: 'true',
    ...(trouble !== '' && { [troubleAnnotation]: trouble }),
  }
  return outcomeOf(() =>
    api.update(configMaps, { ...status, metadata: { ...status.metadata, annotations } }, { signal }),
  )
}

/** Its pods first: one that runs on would write its result over that of the next Job. */
export function deleteJob(api: KubeApi, { metadata }: Job, signal: AbortSignal): Promise<GrowthOutcome> {
  const { namespace = '', name, uid } = metadata
  const preconditions = uid === undefined ? {} : { preconditions: { uid } }
  return outcomeOf(() =>
    api.delete(jobs, { namespace, name }, { propagationPolicy: 'Foreground', ...preconditions, signal }),
  )
}

export function deleteStatus(api: KubeApi, { metadata }: ConfigMap, signal: AbortSignal): Promise<GrowthOutcome> {
  const { namespace = '', name, uid, resourceVersion } = metadata
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  }
  return outcomeOf(() => api.delete(configMaps, { namespace, name }, { preconditions, signal }))
}

const passing = ['AlreadyExists', 'Conflict', 'NotFound'] as const
const serverTrouble = [
  'InternalError',
  'ServerTimeout',
  'ServiceUnavailable',
  'Timeout',
  'TooManyRequests',
  'Unauthorized',
] as const

export async function outcomeOf(write: () => Promise<unknown>): Promise<GrowthOutcome> {
  try {
    await write()
    return { result: 'made' }
  } catch (error) {
    if (hasReason(error, ...passing)) return { result: 'passed' }
    const isAboutAll = hasReason(error, ...serverTrouble) || isRightMissing(error)
    if (isAboutAll || !(error instanceof ApiError)) return { result: 'unsure', error }
    return { result: 'refused', why: error.message }
  }
}
