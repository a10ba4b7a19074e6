import { type NodeMaintenance, nodeMaintenances } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import { customResourceDefinitions, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { nodeMaintenanceDefinition } from '@cofferdam/simulator/cluster-file/maintenance-definitions.ts'
import type { RestartedActor, Views } from '@cofferdam/simulator/world/actor.ts'
import { createNodeMaintenanceOperator } from '@cofferdam/simulator/world/tools/node-maintenance.ts'

export interface Maintenances extends RestartedActor {
  maintain(nodeName: string, reason?: string, name?: string): Promise<void>
  giveBack(nodeName: string): Promise<void>
  statusOf(nodeName: string): NonNullable<NodeMaintenance['status']>
}

/** medik8s' operator in a cluster that has none yet. */
export async function openMaintenances(ports: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly views: Views
}): Promise<Maintenances> {
  const { api, views } = ports
  await api.create(customResourceDefinitions, nodeMaintenanceDefinition())
  const metadata = { name: 'medik8s-leases' }
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }).catch(() => undefined)
  return {
    ...createNodeMaintenanceOperator(ports),
    async maintain(nodeName, reason = 'new disks', name = `for-${nodeName}`) {
      await api.create(nodeMaintenances, {
        apiVersion: 'nodemaintenance.medik8s.io/v1beta1',
        kind: 'NodeMaintenance',
        metadata: { name },
        spec: { nodeName, reason },
      } as NodeMaintenance)
    },
    async giveBack(nodeName) {
      await api.delete(nodeMaintenances, { name: `for-${nodeName}` })
    },
    statusOf: (nodeName) => views.of(nodeMaintenances).get(`for-${nodeName}`)?.status ?? {},
  }
}
