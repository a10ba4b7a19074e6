import { longhornNamespace, longhornNodes, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { LonghornWrite } from '../domain/steps.ts'
import { collectFailure } from './collect-failure.ts'

type Migration = Extract<LonghornWrite, { readonly what: 'migration' }>

/**
 * Carries over what a Longhorn from before these fields left behind. Returns what was refused; that stops no other.
 *
 * Guarantees: may be cut off anywhere; what is done already is not done again.
 */
export async function applyLonghornMigration(
  { api }: { readonly api: Pick<KubeApi, 'patch'> },
  { nodes, replicas }: Pick<Migration, 'nodes' | 'replicas'>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  for (const { name, isEvictionRequested, resourceVersion } of replicas) {
    const metadata = resourceVersion === undefined ? {} : { metadata: { resourceVersion } }
    const body = { ...metadata, spec: { evictionRequested: isEvictionRequested } }
    const key = { namespace: longhornNamespace, name }
    await collectFailure(failures, () => api.patch(longhornReplicas, key, { type: 'merge', body }, { signal }))
  }
  for (const name of nodes) {
    const body = { status: { autoEvicting: false } }
    const key = { namespace: longhornNamespace, name }
    const options = { signal, subresource: 'status' }
    await collectFailure(failures, () => api.patch(longhornNodes, key, { type: 'merge', body }, options))
  }
  return failures
}
