import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import type { Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'

/** Daemons stay where they are when a kubelet says that it is not ready, as owners of storage set it; mgrs are with the mons. */
export async function settleDaemons(api: Scenario['api'], clusters: readonly CephClusterDescription[]): Promise<void> {
  const tolerations = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }]
  for (const { namespace } of clusters) {
    for (const deployment of (await api.list(deployments, { namespace })).items) {
      const { name } = deployment.metadata
      const host = name.includes('-mgr-') ? `control-${name.endsWith('a') ? 1 : 2}` : undefined
      const nodeSelector = host === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': host } }
      const body = { spec: { template: { spec: { tolerations, ...nodeSelector } } } }
      await api.patch(deployments, keyOf(deployment), { type: 'merge', body })
    }
  }
}

/** As the administrator of these clusters says it. */
export async function keepBudgetsIn(
  api: Scenario['api'],
  clusters: readonly CephClusterDescription[],
  machineDisruptionBudgetNamespace: string,
): Promise<void> {
  for (const { namespace, name } of clusters) {
    const body = { spec: { disruptionManagement: { machineDisruptionBudgetNamespace } } }
    await api.patch(cephClusters, { namespace, name }, { type: 'merge', body })
  }
}
