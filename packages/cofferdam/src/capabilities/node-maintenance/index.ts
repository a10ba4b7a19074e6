import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import type { Capability } from '../capability.ts'
import type { CommonPorts } from '../ports.ts'
import { createNodeMaintenance, nodeMaintenanceRights } from './controller.ts'
import { openMaintenanceViews } from './observe.ts'

interface Ports extends CommonPorts {
  readonly views: { readonly disruptions: () => WatchView<NodeDisruption> }
}

export const nodeMaintenance = {
  name: 'node-maintenance',
  summary: 'Makes a request for each node that a NodeMaintenance of medik8s takes out of service.',
  controllers: [{ name: 'node-maintenance', rights: nodeMaintenanceRights }],
  // Its requests go with their kind.
  traces: [],
  install:
    () =>
    ({ api, events, informers, views }) => ({
      controllers: {
        'node-maintenance': () =>
          createNodeMaintenance({
            api,
            events: events.scoped(),
            views: openMaintenanceViews(informers, views.disruptions()),
          }),
      },
    }),
} as const satisfies Capability<Ports>
