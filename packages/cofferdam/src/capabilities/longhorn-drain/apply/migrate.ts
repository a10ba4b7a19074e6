import { longhornNamespace, longhornNodes, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { planLonghornMigration } from '../domain/migration.ts'
import { collectFailure, type LonghornApplyPorts } from './apply.ts'

/**
 * Carries over what a Longhorn from before these fields left behind. Returns what was refused; that stops no other.
 *
 * Guarantees: may be cut off anywhere; what is done already is not done again.
 */
export async function applyLonghornMigration(
  { api, views }: Pick<LonghornApplyPorts, 'api' | 'views'>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const replicas = [...views.replicas.list()]
  const plan = planLonghornMigration([...views.nodes.list()], replicas)
  const versions = new Map(replicas.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
  const failures: unknown[] = []
  for (const { name, isEvictionRequested } of plan.replicas) {
    const resourceVersion = versions.get(name)
    const metadata = resourceVersion === undefined ? {} : { metadata: { resourceVersion } }
    const body = { ...metadata, spec: { evictionRequested: isEvictionRequested } }
    const key = { namespace: longhornNamespace, name }
    await collectFailure(failures, () => api.patch(longhornReplicas, key, { type: 'merge', body }, { signal }))
  }
  for (const name of plan.nodes) {
    const body = { status: { autoEvicting: false } }
    const key = { namespace: longhornNamespace, name }
    const options = { signal, subresource: 'status' }
    await collectFailure(failures, () => api.patch(longhornNodes, key, { type: 'merge', body }, options))
  }
  return failures
}
