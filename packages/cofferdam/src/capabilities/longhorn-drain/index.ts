import { createHash } from 'node:crypto'
import { applyBudgets } from '@cofferdam/kubernetes/client/apply-budgets.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { DisruptionLedger } from '../../shared/kinds/disruption-ledger.ts'
import { once } from '../../shared/once.ts'
import type { Capability, OpenCapability } from '../capability.ts'
import type { CommonPorts } from '../ports.ts'
import { shown } from '../shown.ts'
import { createLonghornDrain, longhornDrainPermissions } from './controller/controller.ts'
import { type LonghornReadPorts, readLonghorn } from './observe/read-longhorn.ts'
import { createLonghornStorageFacts } from './observe/storage-facts.ts'
import { createLonghornDeploymentViews, type LonghornViewPorts, openLonghornViews } from './observe/views.ts'
import { createLonghornMetrics } from './report/metrics.ts'
import { longhornDrainTraces } from './traces.ts'
import { longhornStatusLines } from './view/status-text.ts'
import { summarizeLonghorn } from './view/summarize-longhorn.ts'

interface Ports extends CommonPorts {
  readonly views: LonghornViewPorts['views'] & { readonly ledgers: () => WatchView<DisruptionLedger> }
}

export const longhornDrain = {
  name: 'longhorn-drain',
  summary: 'Holds and moves the replicas of Longhorn volumes while a node is drained, by the policy in force.',
  controllers: [{ name: 'longhorn-drain', rights: longhornDrainPermissions }],
  traces: longhornDrainTraces,
  shows: [
    shown({
      field: 'longhorn',
      title: 'Longhorn',
      read: readLonghorn,
      summarize: summarizeLonghorn,
      lines: (summary, { paint }) => [longhornStatusLines(summary, paint)],
    }),
  ],
  install(registry) {
    const metrics = createLonghornMetrics(registry)
    return (ports) => open(ports, metrics)
  },
} as const satisfies Capability<Ports, LonghornReadPorts>

function open(ports: Ports, metrics: ReturnType<typeof createLonghornMetrics>): OpenCapability {
  const { api, clock, events } = ports
  const views = once(() => openLonghornViews(ports))
  return {
    controllers: {
      'longhorn-drain': () =>
        createLonghornDrain({
          api,
          clock,
          sha512Hex: (text) => createHash('sha512').update(text).digest('hex'),
          reports: {
            events: events.scoped(),
            show: (figures) => metrics.show(figures),
            countReverted: (kind) => metrics.countReverted(kind),
          },
          async applyBudgets(writes, signal) {
            const version = await applyBudgets(api, writes, signal)
            for (const { verb } of writes) metrics.countBudget(verb)
            return version
          },
          views: views(),
          deploymentsIn: createLonghornDeploymentViews(ports),
        }),
    },
    // Whoever does not run the controller leaves the storage to others.
    answers: ports.runs('longhorn-drain')
      ? { storage: once(() => createLonghornStorageFacts({ clock, views: views(), ledgers: ports.views.ledgers() })) }
      : {},
  }
}
