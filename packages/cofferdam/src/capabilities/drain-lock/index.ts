import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { AppLockPolicy } from '../../ledger/rules/app-lock.ts'
import type { DrainLockSettings } from '../../ledger/rules/drain-lock-settings.ts'
import type { PublishedSettings } from '../../ledger/rules/published-settings.ts'
import type { LedgerStore } from '../../ledger/store/ledger-store.ts'
import { productVersion } from '../../ledger/store/product-version.ts'
import type { StorageObserver } from '../../ledger/store/storage-observer.ts'
import type { CephTrust } from '../../shared/ceph-trust/named-clusters.ts'
import type { DisruptionLedger } from '../../shared/kinds/disruption-ledger.ts'
import { policyName } from '../../shared/kinds/disruption-policy.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { madeForLabel } from '../../shared/made-for.ts'
import { known } from '../../shared/observed.ts'
import { once } from '../../shared/once.ts'
import type { Capability, OpenCapability } from '../capability.ts'
import type { CommonPorts } from '../ports.ts'
import { shown } from '../shown.ts'
import { undoDisruption, undoDisruptionPermissions } from './apply/undo.ts'
import { appLockKeeperPermissions, createAppLockKeeper } from './controller/app-lock-keeper.ts'
import { createNodeDisruption, nodeDisruptionPermissions } from './controller/controller.ts'
import { createFinishedRequests, finishedRequestsPermissions } from './controller/finished-requests.ts'
import { createLedgerKeeper, ledgerKeeperPermissions } from './controller/ledger-keeper.ts'
import { limitsSeen } from './observe/limits.ts'
import type { DisruptionViews } from './observe/observe.ts'
import { type LimitReadPorts, readLimits } from './observe/read-limits.ts'
import { createDrainMetrics } from './report/metrics.ts'
import { drainLockTraces } from './traces.ts'
import { answerLimits, limitLines, summarizeLimits } from './view/explain-limits.ts'

interface Ports extends CommonPorts {
  readonly views: {
    readonly disruptions: () => WatchView<NodeDisruption>
    readonly ledgers: () => WatchView<DisruptionLedger>
    readonly nodes: () => DisruptionViews['nodes']
    readonly policies: () => DisruptionViews['policies']
    readonly pods: () => DisruptionViews['pods']
    readonly budgets: () => DisruptionViews['budgets']
  }
  readonly store: () => LedgerStore
  readonly drainLock: DrainLockSettings
  readonly appLocks: AppLockPolicy
  readonly trust: CephTrust
  readonly dryRun: boolean
  /** This process, as others know it: no two have the same. */
  readonly identity: () => string
}

export const drainLock = {
  name: 'drain-lock',
  summary: 'Drains nodes on request, with one holder per node, budget and storage at a time, and releases them again.',
  controllers: [
    { name: 'node-disruption', rights: nodeDisruptionPermissions },
    { name: 'disruption-ledger', rights: [...ledgerKeeperPermissions, ...undoDisruptionPermissions] },
    { name: 'app-locks', rights: appLockKeeperPermissions },
    { name: 'finished-requests', rights: finishedRequestsPermissions },
  ],
  traces: drainLockTraces,
  shows: [
    shown({
      field: 'limits',
      title: 'Limits',
      read: (ports: LimitReadPorts) => readLimits(ports),
      summarize: summarizeLimits,
      lines: (summary) => [limitLines(summary)],
      node: { answer: answerLimits, lines: limitLines },
    }),
  ],
  install(registry) {
    const metrics = createDrainMetrics(registry)
    return (ports) => open(ports, metrics)
  },
} as const satisfies Capability<Ports, LimitReadPorts>

/** The controllers that take nodes out, one at a time or many, by the one ledger. */
function open(ports: Ports, metrics: ReturnType<typeof createDrainMetrics>): OpenCapability {
  const { api, clock, views, store, ask, drainLock: settings, appLocks, trust } = ports
  const events = once(() => ports.events.scoped())
  const observeStorage: StorageObserver['observeStorage'] = async (...asked) =>
    (await Promise.all(ask.storage().map((storage) => storage.observeStorage(...asked)))).flat()
  return {
    controllers: {
      'node-disruption'() {
        const [disruptions, ledgers] = [views.disruptions(), views.ledgers()]
        const [nodes, policies] = [views.nodes(), views.policies()]
        metrics.showLive({
          disruptions: () =>
            [...disruptions.list()].map(({ metadata, status }) => ({
              phase: status?.phase ?? 'Pending',
              tool: metadata.labels?.[madeForLabel] ?? '',
            })),
          ledgerEntries: () =>
            [...ledgers.list()].flatMap(({ status }) => (status?.entries ?? []).map(({ state }) => state)),
        })
        return createNodeDisruption({
          api,
          clock,
          settings,
          appLocks,
          observeStorage,
          identity: ports.identity(),
          scaleDownKeeper: ask.scaleDownKeeper(),
          isDryRun: ports.dryRun,
          store: store(),
          views: { disruptions, ledgers, nodes, policies, pods: views.pods(), budgets: views.budgets() },
          observeLimits: (nodeName) =>
            limitsSeen(nodeName, known([...nodes.list()]), known(policies.get({ name: policyName }))),
          reports: {
            events: events(),
            countEviction: (result) => metrics.countEviction(result),
            observeWait: (seconds) => metrics.observeWait(seconds),
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
          observeStorage,
          undo: (entries, signal) => undoDisruption({ api, clock }, entries, signal),
          events: events(),
          renewMs: settings.renewMs,
          settings: {
            drainLock: publishedOf(settings, ports.runs),
            appLocks,
            trust,
            version: productVersion,
          },
        }),
      'finished-requests': () =>
        createFinishedRequests({
          api,
          clock,
          views: { disruptions: views.disruptions(), policies: views.policies() },
        }),
      'app-locks': () =>
        createAppLockKeeper({
          api,
          clock,
          policy: appLocks,
          budgets: views.budgets(),
          ledgers: views.ledgers(),
          store: store(),
          events: events(),
        }),
    },
  }
}

/** How long remediation leaves a node alone is said only where somebody sees to it. */
function publishedOf(settings: DrainLockSettings, runs: Ports['runs']): PublishedSettings['drainLock'] {
  const { plannedOutageMs: _, ...rest } = settings
  return runs('fencing') ? settings : rest
}
