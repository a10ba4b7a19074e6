import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { adaptOsdDeployment } from '../domain/osd-deployment.ts'
import { restartToCarry, withRestart } from '../domain/restart-request.ts'
import { markUpdateStarted } from '../domain/update-mark.ts'

export type StartOutcome =
  | { readonly osd: number; readonly result: 'started'; readonly version?: string }
  /** The object changed meanwhile, is gone, or somebody holds it: nothing is wrong with it, so it is decided anew. */
  | { readonly osd: number; readonly result: 'later'; readonly why: string; readonly isHeld?: boolean }
  /** The server does not take it. */
  | { readonly osd: number; readonly result: 'refused'; readonly why: string }
  /** Not about the OSD: a right is missing, or nobody answers. It may have happened or not. */
  | { readonly osd: number; readonly result: 'unsure'; readonly error: unknown }

export interface DeploymentStart {
  readonly osd: number
  readonly deployment: Deployment
  readonly cluster: CephCluster
  readonly markMs: number
}

/** Writes the Deployment as it should be, with its mark, if it still is what was seen. */
export function startUpdate(
  api: Pick<KubeApi, 'update'>,
  { osd, deployment, cluster, markMs }: DeploymentStart,
  signal: AbortSignal,
): Promise<StartOutcome> {
  return outcomeOf(osd, async () => {
    const wanted = wantedDeployment(deployment, cluster, markMs)
    const { metadata } = await api.update(deployments, markUpdateStarted(wanted, markMs), { signal })
    return metadata.resourceVersion
  })
}

/** Whether the write replaces the pod; labels and annotations of the Deployment alone do not. */
export function doesRestart(deployment: Deployment, cluster: CephCluster): boolean {
  const adapted = adaptOsdDeployment(deployment, cluster)
  return adapted === deployment || adapted.spec.template !== deployment.spec.template
}

/** Where nothing of the Deployment itself is to change, what remains is the restart that was asked for. */
function wantedDeployment(deployment: Deployment, cluster: CephCluster, nowMs: number): Deployment {
  const adapted = adaptOsdDeployment(deployment, cluster)
  const askedMs = restartToCarry(cluster, nowMs)
  return askedMs === undefined || !doesRestart(deployment, cluster) ? adapted : withRestart(adapted, askedMs)
}

/**
 * Tells the very pods that were seen to go: within their budgets, or past them.
 *
 * Assumes: past their budgets only where those are ours, and the storage is held for the update.
 */
export function startRestart(
  api: KubeApi,
  restart: { readonly osd: number; readonly pods: readonly Pod[]; readonly by: 'eviction' | 'deletion' },
  signal: AbortSignal,
): Promise<StartOutcome> {
  const { osd, pods, by } = restart
  return outcomeOf(osd, async () => {
    for (const { metadata } of pods) {
      const { namespace = '', name, uid = '' } = metadata
      if (by === 'eviction') await evictPod(api, { namespace, name, uid }, { signal })
      else await api.delete(podType, { namespace, name }, { preconditions: { uid }, signal })
    }
    return undefined
  })
}

const passing = ['Conflict', 'NotFound'] as const
const serverTrouble = ['InternalError', 'ServerTimeout', 'ServiceUnavailable', 'Timeout', 'Unauthorized'] as const

async function outcomeOf(osd: number, write: () => Promise<string | undefined>): Promise<StartOutcome> {
  try {
    const version = await write()
    return { osd, result: 'started', ...(version !== undefined && { version }) }
  } catch (error) {
    if (isHeld(error)) return { osd, result: 'later', why: error.message, isHeld: true }
    if (hasReason(error, ...passing)) return { osd, result: 'later', why: error.message }
    const isAboutAll = hasReason(error, ...serverTrouble) || isRightMissing(error)
    if (isAboutAll || !(error instanceof ApiError)) return { osd, result: 'unsure', error }
    return { osd, result: 'refused', why: `the API server refused it: ${error.message}` }
  }
}

/** By a budget, or for the moment that its pod is covered by two, which the API server answers with 500. */
function isHeld(error: unknown): error is ApiError {
  if (hasReason(error, 'TooManyRequests')) return true
  return error instanceof ApiError && error.message.includes('more than one PodDisruptionBudget')
}

/** Admission forbids one object; a missing right forbids all of them, and that is no failure of an OSD. */
export function isRightMissing(error: unknown): error is ApiError {
  return hasReason(error, 'Forbidden') && /cannot \w+ resource/.test(error.message)
}
