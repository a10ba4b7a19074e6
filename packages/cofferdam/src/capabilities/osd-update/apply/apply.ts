import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { deployments, pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { LostDeployment } from '../domain/decide-removal.ts'
import { failedStart, type StartOutcome } from '../domain/start-outcome.ts'
import type { Eviction } from '../domain/steps.ts'

/** Writes the Deployment if it still is what was seen. */
export function startUpdate(
  api: Pick<KubeApi, 'update'>,
  { osd, deployment }: { readonly osd: number; readonly deployment: Deployment },
  signal: AbortSignal,
): Promise<StartOutcome> {
  return outcomeOf(osd, async () => {
    const { metadata } = await api.update(deployments, deployment, { signal })
    return metadata.resourceVersion
  })
}

/**
 * Evicts or deletes exactly the pods that were seen: within their budgets, or past them.
 *
 * Assumes: past their budgets only where those are ours, and the storage is held for the update.
 */
export function startRestart(api: KubeApi, { osd, pods, by }: Eviction, signal: AbortSignal): Promise<StartOutcome> {
  return outcomeOf(osd, async () => {
    for (const { namespace, name, uid } of pods) {
      if (by === 'eviction') await evictPod(api, { namespace, name, uid }, { signal })
      else await api.delete(podType, { namespace, name }, { preconditions: { uid }, signal })
    }
    return undefined
  })
}

/** Writes labels of a Deployment if it still is what was seen; if not, the label of another time is as good. */
export async function relabel(
  api: Pick<KubeApi, 'update'>,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.update(deployments, deployment, { signal })
  } catch (error) {
    // A refusal of this one object is reported where it matters, when it is to be updated.
    if (failedStart(0, error).result === 'unsure') throw error
  }
}

/** Deletes the very Deployment that was seen: a new one of the same name is another OSD. Returns whether it did. */
export async function removeDeployment(
  api: Pick<KubeApi, 'delete'>,
  { namespace, name, uid }: LostDeployment,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } }
    await api.delete(deployments, { namespace, name }, { signal, ...preconditions })
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound', 'Conflict')) return false
    throw error
  }
}

export async function outcomeOf(osd: number, write: () => Promise<string | undefined>): Promise<StartOutcome> {
  try {
    const version = await write()
    return { osd, result: 'started', ...(version !== undefined && { version }) }
  } catch (error) {
    return failedStart(osd, error)
  }
}
