import { hasReason } from './api/api-error.ts'
import type { KubeObject } from './api/kube-object.ts'
import type { ResourceType } from './api/resource-type.ts'
import { deployments, events, nodes, podDisruptionBudgets, pods } from './api/resources.ts'
import { cephClusters, cephFilesystems, cephNfses, cephObjectStores, cephRbdMirrors } from './api/rook.ts'
import type { CephCommands } from './ceph/ceph-commands.ts'
import type { CephParsers } from './ceph/create-pg-parser.ts'
import { applyNoout } from './ceph/noout.ts'
import { observeCeph } from './ceph/observe-ceph.ts'
import { observeOsdHosts } from './ceph/observe-osd-hosts.ts'
import { observeQuorum } from './ceph/observe-quorum.ts'
import { observeStatus } from './ceph/observe-status.ts'
import { askOkToStop } from './ceph/ok-to-stop.ts'
import { compilePgPattern } from './ceph/pg-pattern.ts'
import { cephDrainPermissions, createCephDrain } from './controllers/ceph-drain.ts'
import { indexOfOsd } from './controllers/ceph-drain-observe.ts'
import type { CephReports } from './controllers/ceph-drain-report.ts'
import type { CephPorts } from './controllers/ceph-ports.ts'
import { cephStaticBudgetsPermissions, createCephStaticBudgets } from './controllers/ceph-static-budgets.ts'
import { createDrainDetection, drainDetectionPermissions } from './controllers/drain-detection.ts'
import type { Permission } from './controllers/permission.ts'
import { rookOperatorSelector, rookPresence } from './controllers/rook-presence.ts'
import { parseNode } from './domain/ceph-drain/cluster-objects.ts'
import { parseDrainedNode, parsePodOnNode } from './domain/drain-detection/snapshot.ts'
import type { Observed } from './domain/observed.ts'
import { applyBudgets } from './kube/apply-budgets.ts'
import { dryRunApi } from './kube/dry-run-api.ts'
import type { KubeApi } from './kube/kube-api.ts'
import { createLeaseStore } from './kube/lease-store.ts'
import { createOptionalCache } from './kube/optional-cache.ts'
import { slimBudget, slimCephCluster, slimDeployment, slimPod } from './kube/slim-objects.ts'
import { createWatchCache } from './kube/watch-cache.ts'
import type { CephQuestion } from './observability/ceph-metrics.ts'
import { buildEvent } from './observability/events.ts'
import { errorText, type Log } from './observability/log.ts'
import type { Metrics } from './observability/metrics.ts'
import { type Clock, microTimestamp } from './runtime/clock.ts'
import { type Controller, type RunningController, runController } from './runtime/controller.ts'
import type { HealthCheck } from './runtime/health.ts'
import { LeaderLease } from './runtime/leader-lease.ts'
import type { Random } from './runtime/random.ts'

export const controllerNames = ['drain-detection', 'ceph-drain', 'ceph-static-budgets'] as const

export type ControllerName = (typeof controllerNames)[number]

/** What each controller may ask of the API server; the Roles in deploy/ are made from it. */
export const permissionsOf: Readonly<Record<ControllerName, readonly Permission[]>> = {
  'drain-detection': drainDetectionPermissions,
  'ceph-drain': cephDrainPermissions,
  'ceph-static-budgets': cephStaticBudgetsPermissions,
}

export interface OperatorOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly controllers: readonly ControllerName[]
  /** Check and tell every write, store none. */
  readonly dryRun: boolean
  /** The way to each Ceph cluster; undefined where none is known, and then nothing of it may go down. */
  readonly ceph?: (cluster: { readonly namespace: string; readonly name: string }) => CephCommands | undefined
  /** Where large answers of Ceph are parsed; by default in this thread. */
  readonly parsers?: Pick<CephParsers, 'parse' | 'parseOsdDump'>
  /** Where candidates agree on who leads; undefined when there is only one. */
  readonly lease?: { readonly namespace: string; readonly name: string; readonly identity: string }
}

export interface Operator {
  readonly health: readonly HealthCheck[]
  /** Resolves when it was stopped, or when the lead was lost: the process should then end and be started anew. */
  readonly ended: Promise<'stopped' | 'lost-lead'>
  stop(): Promise<void>
}

interface OwnedView {
  ageMs(): number
  stop(): unknown
}

/** Starts the operator: takes the lead, then watches and runs the controllers until it is stopped or loses the lead. */
export function startOperator(options: OperatorOptions): Operator {
  const { clock, random, log, metrics } = options
  const api = options.dryRun
    ? dryRunApi(options.api, (write) => log.info({ ...write }, 'dry run: would write'))
    : options.api
  const stopping = new AbortController()
  let running: { controllers: RunningController[]; views: Map<string, OwnedView> } | undefined
  metrics.showLive({
    queueKeys: () => Object.fromEntries(running?.controllers.map(({ name, queue }) => [name, queue.depth]) ?? []),
    cacheAgeSeconds: () =>
      Object.fromEntries([...(running?.views ?? [])].map(([resource, view]) => [resource, view.ageMs() / 1_000])),
  })

  const leader =
    options.lease &&
    new LeaderLease({
      // The lease is real in a dry run too: two dry runs would otherwise both report what one of them would do.
      store: createLeaseStore(options.api, options.lease),
      identity: options.lease.identity,
      clock,
      random,
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

  const ended = (leader === undefined ? lead(stopping.signal) : leader.run(lead, stopping.signal)).then(() =>
    stopping.signal.aborted ? ('stopped' as const) : ('lost-lead' as const),
  )

  async function lead(signal: AbortSignal): Promise<void> {
    log.info({ controllers: options.controllers, dryRun: options.dryRun }, 'leading')
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
    const build = controllerBuilders({ ...options, api }, (name, view) => {
      views.set(name, view)
      return view
    })
    return { controllers: options.controllers.map((name) => build[name]()), views }
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
    ],
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

type Own = <V extends OwnedView>(name: string, view: V) => V

/** How each controller is put together. Views that several look at are opened once, when the first asks for them. */
function controllerBuilders(options: OperatorOptions, own: Own): Record<ControllerName, () => Controller> {
  const { api, clock, random, log } = options
  const base = {
    api,
    clock,
    random,
    onError: (error: unknown) => log.warn({ error: errorText(error) }, 'a watch was interrupted, goes on'),
  }
  const byNamespace = { namespace: (object: KubeObject) => [object.metadata.namespace ?? ''] }
  const rookKind = <T extends KubeObject>(type: ResourceType<T>, project?: (object: T) => T) =>
    once(() =>
      own(
        type.plural,
        createOptionalCache<T, T>({
          ...base,
          type,
          indexes: byNamespace,
          ...(project === undefined ? {} : { project }),
          onAbsent: () =>
            log.info({ resource: type.plural }, 'the cluster has no such kind; it is asked again now and then'),
        }),
      ),
    )
  const daemons = (name: string, labelSelector: string) =>
    own(
      `deployments/${name}`,
      createWatchCache({ ...base, type: deployments, labelSelector, project: slimDeployment, indexes: byNamespace }),
    )
  const rook = once(() => rookPresence(daemons('rook', rookOperatorSelector)))
  const clusters = rookKind(cephClusters, slimCephCluster)
  const budgets = once(() =>
    own(
      'poddisruptionbudgets',
      createWatchCache({ ...base, type: podDisruptionBudgets, project: slimBudget, indexes: byNamespace }),
    ),
  )
  const ceph = buildCephPorts(options)
  const reports = buildCephReports(options)
  const write = (...[writes, signal]: Parameters<Parameters<typeof createCephDrain>[0]['applyBudgets']>) =>
    applyBudgets(api, writes, signal)

  return {
    'drain-detection': () =>
      createDrainDetection({
        api,
        clock,
        nodes: own('nodes', createWatchCache({ ...base, type: nodes, project: parseDrainedNode })),
        pods: own(
          'pods',
          createWatchCache({
            ...base,
            type: pods,
            project: parsePodOnNode,
            indexes: { node: (pod) => [pod.nodeName] },
          }),
        ),
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
          nodes: own('nodes/ceph', createWatchCache({ ...base, type: nodes, project: parseNode })),
          osdDeployments: daemons('osd', 'app=rook-ceph-osd'),
          osdPods: own(
            'pods/osd',
            createWatchCache({
              ...base,
              type: pods,
              labelSelector: 'app=rook-ceph-osd',
              project: slimPod,
              indexes: { osd: indexOfOsd },
            }),
          ),
        },
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
          daemons: daemons('mon', 'app in (rook-ceph-mon,rook-ceph-mgr)'),
        },
      }),
  }
}

/** The questions to Ceph, each with its limit and counted; in a dry run those that change something are only told. */
function buildCephPorts({ ceph, parsers, dryRun, log, metrics }: OperatorOptions): CephPorts {
  const names = new WeakMap<CephCommands, string>()
  const limits = { timeoutMs: 15_000 }
  async function counted<T>(
    commands: CephCommands,
    question: CephQuestion['question'],
    answer: Promise<Observed<T>>,
  ): Promise<Observed<T>> {
    const observed = await answer
    const result = observed.known ? 'answered' : 'silent'
    metrics.ceph.countQuestion({ cluster: names.get(commands) ?? '', question, result })
    return observed
  }
  return {
    of(cluster) {
      const commands = ceph?.(cluster)
      if (commands !== undefined) names.set(commands, `${cluster.namespace}/${cluster.name}`)
      return commands
    },
    observeMap: (commands, signal) =>
      counted(commands, 'map', observeCeph(commands, { ...limits, signal, ...parsers })),
    observePulse: async (commands, signal) => {
      const status = await counted(commands, 'status', observeStatus(commands, { ...limits, signal }))
      if (!status.known) return status
      return { known: true, value: { epoch: status.value.osdEpoch, pgStates: status.value.pgsByState } }
    },
    observeOsdHosts: (commands, signal) => observeOsdHosts(commands, { ...limits, signal }),
    observeQuorum: (commands, signal) => counted(commands, 'quorum', observeQuorum(commands, { ...limits, signal })),
    askOkToStop: (commands, osds, signal) =>
      counted(commands, 'ok-to-stop', askOkToStop(commands, osds, { ...limits, signal })),
    async applyNoout(commands, wanted, signal) {
      if (!dryRun) return applyNoout(commands, wanted, { ...limits, signal })
      log.info({ ...wanted }, 'dry run: would change noout')
      return { set: [], unset: [], gone: [], failed: [] }
    },
    compilePgPattern,
  }
}

function buildCephReports({ api, clock, random, log, metrics }: OperatorOptions): CephReports {
  return {
    async event(about, news) {
      const cluster = `${about.metadata.namespace}/${about.metadata.name}`
      const level = news.type === 'Warning' ? 'warn' : 'info'
      log[level]({ cluster, reason: news.reason }, news.note)
      try {
        await api.create(events, buildEvent({ about, ...news }, { clock, random }))
      } catch (error) {
        log.warn({ cluster, reason: news.reason, error: errorText(error) }, 'an event could not be written')
      }
    },
    show: (figures) => metrics.ceph.show(figures),
    countDisagreement: (cluster) => metrics.ceph.countDisagreement(cluster),
    countRefusedWrite: (cluster) => metrics.ceph.countRefusedWrite(cluster),
    forget: (cluster) => metrics.ceph.forget(cluster),
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
