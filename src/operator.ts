import { hasReason } from './api/api-error.ts'
import { nodes, pods } from './api/resources.ts'
import { createDrainDetection, drainDetectionPermissions } from './controllers/drain-detection.ts'
import type { Permission } from './controllers/permission.ts'
import { parseDrainedNode, parsePodOnNode } from './domain/drain-detection/snapshot.ts'
import { dryRunApi } from './kube/dry-run-api.ts'
import type { KubeApi } from './kube/kube-api.ts'
import { createLeaseStore } from './kube/lease-store.ts'
import { createWatchCache } from './kube/watch-cache.ts'
import { errorText, type Log } from './observability/log.ts'
import type { Metrics } from './observability/metrics.ts'
import { type Clock, microTimestamp } from './runtime/clock.ts'
import { type Controller, type RunningController, runController } from './runtime/controller.ts'
import type { HealthCheck } from './runtime/health.ts'
import { LeaderLease } from './runtime/leader-lease.ts'
import type { Random } from './runtime/random.ts'

export const controllerNames = ['drain-detection'] as const

export type ControllerName = (typeof controllerNames)[number]

/** What each controller may ask of the API server; the Roles in deploy/ are made from it. */
export const permissionsOf: Readonly<Record<ControllerName, readonly Permission[]>> = {
  'drain-detection': drainDetectionPermissions,
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
  stop(): void
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
    const own = <V extends OwnedView>(name: string, view: V): V => {
      views.set(name, view)
      return view
    }
    const onError = (error: unknown) => log.warn({ error: errorText(error) }, 'a watch was interrupted, goes on')
    const build: Record<ControllerName, () => Controller> = {
      'drain-detection': () =>
        createDrainDetection({
          api,
          clock,
          nodes: own(
            'nodes',
            createWatchCache({ api, type: nodes, clock, random, project: parseDrainedNode, onError }),
          ),
          pods: own(
            'pods',
            createWatchCache({
              api,
              type: pods,
              clock,
              random,
              project: parsePodOnNode,
              indexes: { node: (pod) => [pod.nodeName] },
              onError,
            }),
          ),
        }),
    }
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

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
