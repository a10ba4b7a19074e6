import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import { applyBudgets, type OnBudgetStored } from '@cofferdam/kubernetes/client/apply-budgets.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { DisruptionLedger } from '../../shared/kinds/disruption-ledger.ts'
import { once } from '../../shared/once.ts'
import type { StorageView } from '../../shared/storage-view.ts'
import type { Capability, OpenCapability } from '../capability.ts'
import type { CephCapabilityPorts } from '../ports.ts'
import { shown } from '../shown.ts'
import { StorageTurns } from './apply/storage-turns.ts'
import { cephDrainPermissions, createCephDrain } from './controller/controller.ts'
import { CephDecisions } from './controller/decisions.ts'
import { cephStaticBudgetsPermissions, createCephStaticBudgets } from './controller/static-budgets.ts'
import { createStorageFacts } from './observe/storage-facts.ts'
import { type CephDrainViewPorts, openCephDrainViews } from './observe/views.ts'
import { createCephMetrics } from './report/metrics.ts'
import { cephDrainTraces } from './traces.ts'
import { storageStatusLines } from './view/status-text.ts'

interface Ports extends CephCapabilityPorts {
  readonly views: CephDrainViewPorts['views'] & { readonly ledgers: () => WatchView<DisruptionLedger> }
}

export const cephDrain = {
  name: 'ceph-drain',
  summary:
    'Keeps the budgets of a Rook cluster: one failure domain of OSDs may go at a time, mons and other daemons by number.',
  controllers: [
    { name: 'ceph-drain', rights: cephDrainPermissions },
    { name: 'ceph-static-budgets', rights: cephStaticBudgetsPermissions },
  ],
  traces: cephDrainTraces,
  shows: [
    shown({
      field: 'storage',
      title: 'Storage',
      read: async ({ storage }: { readonly storage: readonly StorageView[] }) => storage,
      summarize: (views) => views,
      lines: (views, style) => views.map((view) => storageStatusLines(view, style)),
    }),
  ],
  install(registry) {
    const metrics = createCephMetrics(registry)
    return (ports) => open(ports, metrics)
  },
} as const satisfies Capability<Ports, { readonly storage: readonly StorageView[] }>

function open(ports: Ports, metrics: ReturnType<typeof createCephMetrics>): OpenCapability {
  const { api, clock, ceph, cephViews, runs, ask } = ports
  const views = openCephDrainViews(ports)
  const turns = new StorageTurns()
  const decisions = new CephDecisions(clock)
  const reports = once(() => ({ ...metrics, ...ports.cephCounts, events: ports.events.scoped() }))
  const write = (writes: readonly BudgetWrite[], signal: AbortSignal, onStored?: OnBudgetStored) =>
    applyBudgets(api, writes, signal, onStored)
  const rook = () => cephViews.rook()
  return {
    controllers: {
      'ceph-drain'() {
        const ledger = ports.ledger()
        return createCephDrain({
          api,
          clock,
          ceph,
          decisions,
          reports: reports(),
          rook: rook(),
          applyBudgets: write,
          views: views.drain(),
          ...(runs('ceph-static-budgets') ? { turns } : {}),
          ...(ledger === undefined ? {} : { ledger }),
          ...ask.cephInterest(),
        })
      },
      'ceph-static-budgets'() {
        const drain = runs('ceph-drain') ? views.drain() : undefined
        return createCephStaticBudgets({
          clock,
          ceph,
          reports: reports(),
          rook: rook(),
          applyBudgets: write,
          views: views.staticBudgets(),
          ...(drain === undefined ? {} : { beside: { turns, ...drain } }),
        })
      },
    },
    // Whoever does not run the controller leaves the storage to others.
    answers: runs('ceph-drain')
      ? {
          cephDecisions: () => decisions,
          storage: once(() => {
            const fenceGate = ask.fenceGate()
            return createStorageFacts({
              decisions,
              rook: rook(),
              ledgers: ports.views.ledgers(),
              views: views.drain(),
              ...(fenceGate === undefined ? {} : { fenceGate }),
            })
          }),
        }
      : {},
  }
}
