import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import type { SurplusReplica } from '../domain/steps.ts'
import type { LonghornViews } from '../observe/observe.ts'
import { collectFailure } from './collect-failure.ts'

/** Deletes copies beyond what a volume wants, each only in the state it was seen in. Returns what was refused. */
export async function applySurplusRemoval(
  { api, views }: { readonly api: Pick<KubeApi, 'delete'>; readonly views: Pick<LonghornViews, 'replicas'> },
  replicas: readonly SurplusReplica[],
  { objects, signal }: { readonly objects: Pick<LonghornObjects, 'namespace'>; readonly signal: AbortSignal },
): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  let version: string | undefined
  for (const { name, ...preconditions } of replicas) {
    await collectFailure(failures, async () => {
      const key = { namespace: objects.namespace, name }
      version = (await api.delete(longhornReplicas, key, { preconditions, signal })).metadata.resourceVersion
    })
  }
  if (version !== undefined) await views.replicas.whenSeen(version, signal)
  return failures
}
