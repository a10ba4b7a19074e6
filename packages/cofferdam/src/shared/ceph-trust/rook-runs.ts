import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { ClusterName } from './named-clusters.ts'

/** On the Deployments that a Rook makes: where it runs itself. */
const operatorNamespace = 'rook.io/operator-namespace'

/**
 * Whether a Rook runs that could have to do with this cluster: in its namespace, or where its OSDs say that their Rook is.
 *
 * Anybody may label a Deployment of his own as a Rook; elsewhere that says nothing of this cluster. `osds` is asked only then, and
 * undefined where they cannot be seen: every Rook counts in that case.
 */
export function doesRookRun(
  { namespace }: ClusterName,
  operators: Iterable<Pick<Deployment, 'metadata' | 'spec'>>,
  osds: () => Iterable<Pick<Deployment, 'metadata'>> | undefined,
): boolean {
  const running = new Set<string>()
  for (const { metadata, spec } of operators) {
    // One that is only restarting is still there; one that is scaled to none is not.
    if ((spec.replicas ?? 1) > 0) running.add(metadata.namespace ?? '')
  }
  if (running.size === 0) return false
  if (running.has(namespace)) return true
  const own = osds()
  if (own === undefined) return true
  for (const { metadata } of own) if (running.has(metadata.labels?.[operatorNamespace] ?? '')) return true
  return false
}
