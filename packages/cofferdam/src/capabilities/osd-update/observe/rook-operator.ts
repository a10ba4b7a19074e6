import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import { doesRookRun } from '../../../shared/ceph-trust/rook-runs.ts'
import type { RookOperator } from '../domain/rook-pass.ts'

/** The Rook that has to do with a cluster, of all that are seen. */
export function rookOperatorOf(
  cluster: CephCluster,
  operators: Iterable<Deployment>,
  osds: readonly Deployment[],
): RookOperator {
  const id = nameOf(cluster)
  const own = [...operators].filter((operator) => {
    return doesRookRun(id, [{ metadata: operator.metadata, spec: { ...operator.spec, replicas: 1 } }], () => osds)
  })
  if (own.length === 0) return { state: 'unseen', images: [] }
  const images = own.flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ image }) => image ?? []))
  return { state: doesRookRun(id, own, () => osds) ? 'running' : 'stopped', images: [...new Set(images)] }
}
