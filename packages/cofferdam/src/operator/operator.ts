import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { cephFilesystems, cephNfses, cephObjectStores, cephRbdMirrors } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { applyBudgets } from '@cofferdam/kubernetes/client/apply-budgets.ts'
import { dryRunApi } from '@cofferdam/kubernetes/client/dry-run-api.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, microTimestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Controller, type RunningController, runController } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { HealthCheck } from '@cofferdam/kubernetes/runtime/health.ts'
import { LeaderLease } from '@cofferdam/kubernetes/runtime/leader-lease.ts'
import { leadingApi } from '@cofferdam/kubernetes/runtime/leading-api.ts'
import { createLeaseStore } from '@cofferdam/kubernetes/runtime/lease-store.ts'
import { type Random, randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import type { Capability } from '../capabilities/capability.ts'
import { StorageTurns } from '../capabilities/ceph-drain/apply/storage-turns.ts'
import { createCephDrain } from '../capabilities/ceph-drain/controller/controller.ts'
import { CephDecisions } from '../capabilities/ceph-drain/controller/decisions.ts'
import { createCephStaticBudgets } from '../capabilities/ceph-drain/controller/static-budgets.ts'
import { createStorageFacts } from '../capabilities/ceph-drain/observe/storage-facts.ts'
import { createFenceGate } from '../capabilities/fencing/apply/gate.ts'
import { createLonghornStorageFacts } from '../capabilities/longhorn-drain/observe/storage-facts.ts'
import type { CephCommands } from '../ceph/ceph-commands.ts'
import type { CephParsers } from '../ceph/create-pg-parser.ts'
import { type AppLockPolicy, defaultAppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { DrainLockSettings } from '../ledger/rules/drain-lock-settings.ts'
import { defaultDrainLockSettings } from '../ledger/rules/drain-lock-settings.ts'
import { createLedgerStore } from '../ledger/store/ledger-store.ts'
import type { buildSafetyIndex } from '../safety/safety-index.ts'
import { type CephTrust, trustsNone } from '../shared/ceph-trust/named-clusters.ts'
import { capabilities } from './capabilities.ts'
import { buildCephPorts, buildCephReports } from './ceph.ts'
import { openCephViews } from './ceph-views.ts'
import type { ControllerName } from './controller-names.ts'
import type { DaemonScope } from './daemon-views.ts'
import { drainLockControllers, highestEpoch } from './drain-lock.ts'
import { evidenceForFencing, fencingControllers } from './fencing.ts'
import { type GuardPorts, type GuardWiring, guardControllers, runGuard } from './guard.ts'
import { errorText, type Log } from './log.ts'
import { longhornControllers, openLonghornViews } from './longhorn.ts'
import type { Metrics } from './metrics.ts'
import { tellTrust } from './named-views.ts'
import { osdGrowthControllers } from './osd-growth.ts'
import { osdUpdateControllers } from './osd-update.ts'
import { type Own, type OwnedView, once, openSharedViews, type SharedViews } from './shared-views.ts'

export interface OperatorOptions extends DaemonScope {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  /** Which controllers of the capabilities run, by name. */
  readonly controllers: readonly string[]
  /** What this operator can do; by default everything. */
  readonly capabilities?: readonly Capability<CapabilityPorts>[]
  /** Check and tell every write, store none. */
  readonly dryRun: boolean
  /** The way to each Ceph cluster; undefined where none is known, and then nothing of it may go down. */
  readonly ceph?: (cluster: { readonly namespace: string; readonly name: string }) => CephCommands | undefined
  /** Where large answers of Ceph are parsed; by default in this thread. */
  readonly parsers?: Pick<CephParsers, 'parse' | 'parseOsdDump'>
  /** Whoever counts how often a safety index is built passes their own. */
  readonly buildIndex?: typeof buildSafetyIndex
  /** Which CephClusters this operator acts on, and how far; none unless told. */
  readonly trust?: CephTrust
  readonly drainLock?: Partial<DrainLockSettings>
  /** What owners of applications may lock. */
  readonly appLocks?: AppLockPolicy
  /** Where this process listens as eviction guard, leading or not; undefined: it is none. */
  readonly guard?: GuardWiring
  /** Where candidates agree on who leads; undefined when there is only one. */
  readonly lease?: { readonly namespace: string; readonly name: string; readonly identity: string }
}

/** What any capability is put together from. */
export interface CapabilityPorts extends Pick<OperatorOptions, 'api' | 'clock' | 'random' | 'log'> {
  /** Opened when the first asks for them. */
  readonly views: SharedViews
}

export interface Operator {
  readonly health: readonly HealthCheck[]
  /** Resolves when it was stopped, or when the lead was lost: the process should then end and be started anew. */
  readonly ended: Promise<'stopped' | 'lost-lead'>
  stop(): Promise<void>
}

/** Starts the operator: takes the lead, then watches and runs the controllers until it is stopped or loses the lead. */
export function startOperator(options: OperatorOptions): Operator {
  const { clock, random, log, metrics } = options
  const api = options.dryRun
    ? dryRunApi(options.api, (write) => log.info({ ...write }, 'dry run: would write'))
    : options.api
  const stopping = new AbortController()
  let running: { controllers: RunningController[]; views: Map<string, OwnedView> } | undefined
  // In a dry run its certificate would never be stored.
  const guarding =
    options.guard === undefined || options.dryRun ? undefined : startGuarding({ ...options, api }, options.guard)
  metrics.showLive({
    queueKeys: () => Object.fromEntries(running?.controllers.map(({ name, queue }) => [name, queue.depth]) ?? []),
    cacheAgeSeconds: () =>
      Object.fromEntries(
        [...(guarding?.owned ?? []), ...(running?.views ?? [])].map(([name, view]) => [name, view.ageMs() / 1_000]),
      ),
  })

  const leader =
    options.lease &&
    new LeaderLease({
      // The lease is real in a dry run too: two dry runs would otherwise both report what one of them would do.
      store: createLeaseStore(options.api, options.lease),
      identity: options.lease.identity,
      clock,
      random: random.stream('leader-lease'),
      timestamp: () => microTimestamp(clock),
      onChange: (holder) => log.info({ holder }, holder === '' ? 'nobody leads' : 'the leader changed'),
      onError: (error) =>
        log.warn(
          { error: errorText(error) },
          hasReason(error, 'NotFound')
            ? 'the namespace of the lease is missing: apply deploy/, or name another with --lease-namespace'
            : 'the lease could not be read or renewed',
        ),
    })

  const ended = (leader === undefined ? lead(stopping.signal) : leader.run(lead, stopping.signal)).then(async () => {
    const how = stopping.signal.aborted ? ('stopped' as const) : ('lost-lead' as const)
    await guarding?.stop()
    return how
  })

  async function lead(signal: AbortSignal): Promise<void> {
    log.info({ controllers: options.controllers, dryRun: options.dryRun }, 'leading')
    tellTrust(options)
    metrics.leading.set(1)
    const { controllers, views } = buildControllers()
    running = {
      views,
      controllers: controllers.map((controller) =>
        runController(controller, {
          clock,
          random,
          workers: 4,
          onOutcome(outcome) {
            metrics.countOutcome(outcome)
            if (outcome.result === 'done') return
            const { controller: name, key, error, retryInMs } = outcome
            log.warn({ controller: name, key, error: errorText(error), retryInMs }, 'failed, will try again')
          },
        }),
      ),
    }
    await aborted(signal)
    await Promise.all(running.controllers.map((controller) => controller.stop()))
    for (const view of views.values()) view.stop()
    running = undefined
    metrics.leading.set(0)
  }

  function buildControllers() {
    const views = new Map<string, OwnedView>()
    const ours = leader === undefined ? api : leadingApi(api, () => leader.mayAct())
    const own = keepIn(views)
    const ports = { ...options, api: ours, views: guarding?.views ?? openSharedViews({ ...options, api: ours }, own) }
    const build = controllerBuilders(ports, own, guarding)
    const parts = (options.capabilities ?? capabilities).flatMap(({ controllers }) => controllers)
    const controllers = options.controllers.flatMap((wanted) => {
      const part = parts.find(({ name }) => name === wanted)
      return part?.create?.(ports) ?? build[wanted]?.() ?? []
    })
    return { controllers, views }
  }

  return {
    ended,
    health: [
      { name: 'process', kind: 'alive', check: () => ({ ok: true }) },
      {
        name: 'controllers',
        kind: 'ready',
        check() {
          if (running === undefined) {
            const holder = leader?.holder()
            return holder ? { ok: true } : { ok: false, why: 'nobody leads yet' }
          }
          const waiting = running.controllers.filter((controller) => !controller.isStarted())
          if (waiting.length === 0) return { ok: true }
          return { ok: false, why: `not started yet: ${waiting.map(({ name }) => name).join(', ')}` }
        },
      },
      ...(guarding === undefined ? [] : [guarding.health]),
    ],
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

function keepIn(views: Map<string, OwnedView>): Own {
  return (name, view) => {
    // The first of two of one name would run on when all are stopped.
    if (views.has(name)) throw new Error(`two views are called ${name}`)
    views.set(name, view)
    return view
  }
}

type Guarding = ReturnType<typeof startGuarding>

/** The guard of this process and the views it needs: they live as long as the process, whoever leads. */
function startGuarding(options: OperatorOptions, wiring: GuardWiring) {
  const owned = new Map<string, OwnedView>()
  const views = openSharedViews(options, keepIn(owned))
  const ports: GuardPorts = { ...options, views, policy: options.appLocks ?? defaultAppLockPolicy }
  const guard = runGuard(ports, wiring)
  const health: HealthCheck = {
    name: 'guard',
    kind: 'ready',
    check() {
      const why = guard.whatIsMissing()
      return why === undefined ? { ok: true } : { ok: false, why }
    },
  }
  return {
    owned,
    views,
    health,
    controllers: (own: Own) => guardControllers(ports, { guard, wiring, own }),
    async stop() {
      await guard.stop()
      for (const view of owned.values()) view.stop()
    },
  }
}

/** How the controllers are put together that capabilities do not create themselves yet. Views that several look at are opened once, when the first asks for them. */
function controllerBuilders(
  options: OperatorOptions & CapabilityPorts,
  own: Own,
  guarding: Guarding | undefined,
): Readonly<Partial<Record<string, () => Controller>>> {
  const { api, clock, random, views, trust = trustsNone } = options
  const { only, rookKind, rook, clusters, budgets, osdDeployments, osdPods, ...all } = openCephViews({
    ...options,
    own,
    trust,
  })
  const { monDeployments, daemonPods, cephNodes } = all
  const longhorn = openLonghornViews({ ...options, own, views, budgets })
  const longhornFacts = once(() => createLonghornStorageFacts({ clock, views: longhorn(), ledgers: views.ledgers() }))
  const runs = (name: ControllerName) => options.controllers.includes(name)
  const usesLedger = runs('node-disruption') || runs('disruption-ledger')
  const settings = { ...defaultDrainLockSettings, ...options.drainLock }
  const store = once(() => createLedgerStore({ api, clock, highestEpoch: () => highestEpoch(views) }))
  const decisions = new CephDecisions(clock)
  const turns = new StorageTurns()
  const storage = once(() =>
    createStorageFacts({
      decisions,
      rook: rook(),
      ledgers: views.ledgers(),
      ...(runs('fencing') ? { fenceGate: createFenceGate({ api, clock, clusters: clusters() }) } : {}),
      views: {
        clusters: clusters(),
        budgets: budgets(),
        osdDeployments: osdDeployments(),
        osdPods: osdPods(),
        nodes: cephNodes(),
      },
    }),
  )
  const ceph = buildCephPorts(options)
  const reports = buildCephReports(options)
  const write = (...[writes, signal]: Parameters<Parameters<typeof createCephDrain>[0]['applyBudgets']>) =>
    applyBudgets(api, writes, signal)

  return {
    ...drainLockControllers({
      ...options,
      views,
      settings,
      store,
      appLocks: options.appLocks ?? defaultAppLockPolicy,
      trust,
      identity: () => options.lease?.identity ?? `operator-${randomSuffix(random.stream('identity'), 8)}`,
      // Whoever does not run the controller of a storage leaves it to others.
      observeStorage: async (...asked) => {
        const observers = [
          ...(runs('ceph-drain') ? [storage()] : []),
          ...(runs('longhorn-drain') ? [longhornFacts()] : []),
        ]
        return (await Promise.all(observers.map((each) => each.observeStorage(...asked)))).flat()
      },
    }),
    ...guarding?.controllers(own),
    ...longhornControllers({ ...options, own }, longhorn),
    ...fencingControllers({
      ...options,
      own,
      trust,
      clusters: all.allClusters,
      osdDeployments: all.allOsds,
      osdPods: all.allOsdPods,
      monDeployments,
      monPods: daemonPods,
      decisions: runs('ceph-drain') ? decisions : undefined,
      ledger: () => (usesLedger ? { view: views.ledgers(), store: store(), renewMs: settings.renewMs } : undefined),
    }),
    ...osdGrowthControllers({ ...options, own, only, trust, ceph, reports, rook, clusters, osdDeployments }),
    ...osdUpdateControllers({
      ...options,
      trust,
      own,
      only,
      ceph,
      reports,
      rook,
      clusters,
      osdPods,
      budgets: views.budgets,
      appLocks: options.appLocks ?? defaultAppLockPolicy,
      ledger: () => (usesLedger ? { view: views.ledgers(), store: store(), renewMs: settings.renewMs } : undefined),
    }),
    'ceph-drain': () =>
      createCephDrain({
        api,
        clock,
        ceph,
        reports,
        rook: rook(),
        applyBudgets: write,
        views: {
          clusters: clusters(),
          budgets: budgets(),
          nodes: cephNodes(),
          osdDeployments: osdDeployments(),
          osdPods: osdPods(),
          daemonDeployments: monDeployments(),
          daemonPods: daemonPods(),
        },
        ...(runs('ceph-static-budgets') ? { turns } : {}),
        ...(usesLedger || runs('fencing') ? { decisions } : {}),
        ...(usesLedger ? { ledger: { view: views.ledgers(), store: store(), renewMs: settings.renewMs } } : {}),
        ...(runs('fencing') ? evidenceForFencing : {}),
      }),
    'ceph-static-budgets': () =>
      createCephStaticBudgets({
        clock,
        ceph,
        reports,
        rook: rook(),
        applyBudgets: write,
        views: {
          clusters: clusters(),
          budgets: budgets(),
          filesystems: rookKind(cephFilesystems)(),
          objectStores: rookKind(cephObjectStores)(),
          rbdMirrors: rookKind(cephRbdMirrors)(),
          nfs: rookKind(cephNfses)(),
          daemons: monDeployments(),
        },
        ...(runs('ceph-drain') ? { beside: { turns, daemonPods: daemonPods(), nodes: cephNodes() } } : {}),
      }),
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
