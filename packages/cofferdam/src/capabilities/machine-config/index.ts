import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import type { Capability } from '../capability.ts'
import type { CommonPorts } from '../ports.ts'
import { createMachineConfig, machineConfigRights } from './controller.ts'
import { isPausedByUs } from './domain/parse-pool.ts'
import { createMachineConfigMetrics } from './metrics.ts'
import { openMachineConfigViews } from './observe.ts'
import { machineConfigTraces } from './traces.ts'

interface Ports extends CommonPorts {
  readonly views: { readonly disruptions: () => WatchView<NodeDisruption> }
}

export const machineConfig = {
  name: 'machine-config',
  summary:
    "Makes a request for each node that OpenShift's Machine Config Operator drains, and pauses pools that allow it while requests stand for their nodes.",
  controllers: [{ name: 'machine-config', rights: machineConfigRights }],
  traces: machineConfigTraces,
  install(registry) {
    const metrics = createMachineConfigMetrics(registry)
    return ({ api, clock, events, informers, log, views }) => ({
      controllers: {
        'machine-config'() {
          const opened = openMachineConfigViews(informers, views.disruptions())
          metrics.showLive(() => [...opened.pools.list()].filter(isPausedByUs).length)
          return createMachineConfig({ api, clock, events: events.scoped(), log, views: opened })
        },
      },
    })
  },
} as const satisfies Capability<Ports>
