import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import type { Capability } from '../capability.ts'
import type { CommonPorts } from '../ports.ts'
import { createMachineDeletion, machineDeletionRights } from './controller.ts'
import { openMachineDeletionViews } from './observe.ts'
import { machineDeletionTraces } from './traces.ts'

interface Ports extends CommonPorts {
  readonly views: { readonly disruptions: () => WatchView<NodeDisruption> }
}

export const machineDeletion = {
  name: 'machine-deletion',
  summary:
    'Drains the node of a Machine of Cluster API or OpenShift before the Machine is deleted, where its owner asks for it.',
  controllers: [{ name: 'machine-deletion', rights: machineDeletionRights }],
  traces: machineDeletionTraces,
  install:
    () =>
    ({ api, clock, informers, log, events, views }) => ({
      controllers: {
        'machine-deletion': () =>
          createMachineDeletion({
            api,
            clock,
            log,
            events: events.scoped(),
            views: openMachineDeletionViews({ informers, log, disruptions: views.disruptions() }),
          }),
      },
    }),
} as const satisfies Capability<Ports>
