import { ApiError, hasReason } from '../api/api-error.ts'
import type { Deployment } from '../api/apps.ts'
import type { Pod } from '../api/core.ts'
import { deployments } from '../api/resources.ts'
import type { CephCluster } from '../api/rook.ts'
import { adaptOsdDeployment } from '../domain/osd-update/osd-deployment.ts'
import { restartToCarry, withRestart } from '../domain/osd-update/restart-request.ts'
import { markUpdateStarted } from '../domain/osd-update/update-mark.ts'
import { evictPod, type KubeApi } from '../kube/kube-api.ts'

export type StartOutcome =
  | { readonly osd: number; readonly result: 'started'; readonly version?: string }
  /** The object changed meanwhile, is gone, or may not go yet: nothing is wrong with it, so it is decided anew. */
  | { readonly osd: number; readonly result: 'later'; readonly why: string }
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

/** Asks the very pods that were seen to go, within their budgets. */
export function startRestart(
  api: KubeApi,
  { osd, pods }: { readonly osd: number; readonly pods: readonly Pod[] },
  signal: AbortSignal,
): Promise<StartOutcome> {
  return outcomeOf(osd, async () => {
    for (const { metadata } of pods) {
      const { namespace = '', name, uid } = metadata
      await evictPod(api, { namespace, name, ...(uid !== undefined && { uid }) }, { signal })
    }
    return undefined
  })
}

const passing = ['Conflict', 'NotFound', 'TooManyRequests'] as const
const serverTrouble = ['InternalError', 'ServerTimeout', 'ServiceUnavailable', 'Timeout', 'Unauthorized'] as const

async function outcomeOf(osd: number, write: () => Promise<string | undefined>): Promise<StartOutcome> {
  try {
    const version = await write()
    return { osd, result: 'started', ...(version !== undefined && { version }) }
  } catch (error) {
    if (hasReason(error, ...passing)) return { osd, result: 'later', why: error.message }
    const isAboutAll = hasReason(error, ...serverTrouble) || isRightMissing(error)
    if (isAboutAll || !(error instanceof ApiError)) return { osd, result: 'unsure', error }
    return { osd, result: 'refused', why: `the API server refused it: ${error.message}` }
  }
}

/** Admission forbids one object; a missing right forbids all of them, and that is no failure of an OSD. */
export function isRightMissing(error: unknown): error is ApiError {
  return hasReason(error, 'Forbidden') && /cannot \w+ resource/.test(error.message)
}
