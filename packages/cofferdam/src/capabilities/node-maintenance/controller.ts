import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Permission } from '../../shared/permission.ts'
import type { Reason } from '../../shared/reasons.ts'
import { performPass } from '../interpreter.ts'
import { oneKeyController } from '../one-key-controller.ts'
import { toolRequestRights } from '../tool-requests.ts'
import { maintenancePerformers } from './apply.ts'
import { decideMaintenance } from './domain/decide.ts'
import { type MaintenanceViews, observeMaintenance } from './observe.ts'

export const nodeMaintenanceRights: readonly Permission[] = [
  { group: 'nodemaintenance.medik8s.io', resource: 'nodemaintenances', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create'] },
  toolRequestRights,
]

interface NodeMaintenancePorts {
  readonly api: Pick<KubeApi, 'create' | 'delete'>
  readonly events: EventRecorder<Reason>
  readonly views: MaintenanceViews
}

/** Makes a request for each node that a NodeMaintenance of medik8s takes out of service, and withdraws it with the NodeMaintenance. */
export function createNodeMaintenance({ api, events, views }: NodeMaintenancePorts): Controller {
  return oneKeyController({
    name: 'node-maintenance',
    views: Object.values(views),
    async pass(_key, signal) {
      await performPass({
        observe: async () => observeMaintenance(views),
        decide: decideMaintenance,
        perform: maintenancePerformers({ api, events, requests: views.requests, signal }),
        signal,
      })
      return undefined
    },
  })
}
