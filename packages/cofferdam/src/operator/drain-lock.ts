import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { undoDisruption } from '../capabilities/drain-lock/apply/undo.ts'
import { createAppLockKeeper } from '../capabilities/drain-lock/controller/app-lock-keeper.ts'
import { createNodeDisruption } from '../capabilities/drain-lock/controller/controller.ts'
import { createLedgerKeeper } from '../capabilities/drain-lock/controller/ledger-keeper.ts'
import type { ObserveKeysPorts } from '../capabilities/drain-lock/observe/keys.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { DrainLockSettings } from '../ledger/rules/drain-lock-settings.ts'
import type { LedgerStore } from '../ledger/store/ledger-store.ts'
import type { CephTrust } from '../shared/ceph-trust/named-clusters.ts'
import { createEventRecorder } from './event-recorder.ts'
import type { Metrics } from './metrics.ts'
import type { SharedViews, ViewPorts } from './shared-views.ts'

export interface DrainLockPorts extends ViewPorts, Pick<ObserveKeysPorts, 'observeStorage'> {
  readonly metrics: Metrics
  readonly views: SharedViews
  readonly store: () => LedgerStore
  readonly settings: DrainLockSettings
  readonly dryRun: boolean
  readonly appLocks: AppLockPolicy
  readonly trust: CephTrust
  /** This process, as others know it: no two have the same. */
  readonly identity: () => string
}

/** The controllers that take nodes out, one at a time or many, by the one ledger. */
export function drainLockControllers(
  ports: DrainLockPorts,
): Record<'node-disruption' | 'disruption-ledger' | 'app-locks', () => Controller> {
  const { api, clock, metrics, views, settings, store } = ports
  const events = createEventRecorder(ports)
  return {
    'node-disruption'() {
      const [disruptions, ledgers] = [views.disruptions(), views.ledgers()]
      metrics.drain.showLive({
        disruptions: () => disruptions.list().map(({ status }) => status?.phase ?? 'Pending'),
        ledgerEntries: () => ledgers.list().flatMap(({ status }) => (status?.entries ?? []).map(({ state }) => state)),
      })
      return createNodeDisruption({
        ...ports,
        identity: ports.identity(),
        isDryRun: ports.dryRun,
        store: store(),
        views: { disruptions, ledgers, nodes: views.nodes(), pods: views.pods(), budgets: views.budgets() },
        reports: {
          events,
          countEviction: (result) => metrics.drain.countEviction(result),
          observeWait: (seconds) => metrics.drain.observeWait(seconds),
        },
      })
    },
    'disruption-ledger': () =>
      createLedgerKeeper({
        api,
        clock,
        store: store(),
        ledgers: views.ledgers(),
        disruptions: views.disruptions(),
        observeStorage: ports.observeStorage,
        undo: (entries, signal) => undoDisruption({ api, clock }, entries, signal),
        events,
        renewMs: settings.renewMs,
        settings: { drainLock: settings, appLocks: ports.appLocks, trust: ports.trust },
      }),
    'app-locks': () => createAppLockKeeper({ api, clock, policy: ports.appLocks, budgets: views.budgets(), events }),
  }
}

/** No epoch that stands on a record or a budget is given out again, though the ledger be lost. */
export function highestEpoch(views: SharedViews): number {
  let highest = 0
  for (const { status } of views.disruptions().list()) highest = Math.max(highest, status?.epoch ?? 0)
  for (const { hold } of views.budgets().list()) highest = Math.max(highest, hold?.epoch ?? 0)
  return highest
}
