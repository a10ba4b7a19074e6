import { nodeMaintenances } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { known } from '../../shared/observed.ts'
import { type ParsedMaintenance, parseMaintainedNode, parseMaintenance } from './domain/parse-maintenance.ts'
import type { MaintainedNode, MaintenanceSnapshot } from './domain/snapshot.ts'

export interface MaintenanceViews {
  readonly maintenances: WatchView<ParsedMaintenance>
  readonly nodes: WatchView<MaintainedNode>
  readonly requests: WatchView<NodeDisruption>
}

export function openMaintenanceViews(informers: Informers, requests: WatchView<NodeDisruption>): MaintenanceViews {
  return {
    maintenances: informers.openOptional('nodemaintenances', { type: nodeMaintenances, project: parseMaintenance }),
    nodes: informers.open('nodes/maintenance', { type: nodes, project: parseMaintainedNode }),
    requests,
  }
}

export function observeMaintenance({ maintenances, nodes: view, requests }: MaintenanceViews): MaintenanceSnapshot {
  const parsed = [...maintenances.list()]
  return {
    maintenances: parsed.flatMap((each) => (each.is === 'asking' ? [each.maintenance] : [])),
    unusable: parsed.flatMap((each) => (each.is === 'unusable' ? [each.unusable] : [])),
    nodes: new Map([...view.list()].map((node) => [node.name, node])),
    requests: known([...requests.list()]),
  }
}
