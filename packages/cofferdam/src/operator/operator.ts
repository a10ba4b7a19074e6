import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { dryRunApi } from '@cofferdam/kubernetes/client/dry-run-api.ts'
import type { WatchInformers } from '@cofferdam/kubernetes/informers/watch-informers.ts'
import { microTimestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type RunningController, runController } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { HealthCheck } from '@cofferdam/kubernetes/runtime/health.ts'
import { LeaderLease } from '@cofferdam/kubernetes/runtime/leader-lease.ts'
import { leadingApi } from '@cofferdam/kubernetes/runtime/leading-api.ts'
import { createLeaseStore } from '@cofferdam/kubernetes/runtime/lease-store.ts'
import { defaultAppLockPolicy } from '../ledger/rules/app-lock.ts'
import { trustsNone } from '../shared/ceph-trust/named-clusters.ts'
import { buildControllers } from './build-controllers.ts'
import { startGuarding } from './guard.ts'
import { intendedWrites } from './intended-writes.ts'
import { errorText } from './log.ts'
import type { OperatorOptions } from './options.ts'

export interface Operator {
  readonly health: readonly HealthCheck[]
  /** Resolves when it was stopped, or when the lead was lost or the API server restored from a backup: the process should then end and be started anew. */
  readonly ended: Promise<'stopped' | 'lost-lead' | 'restored'>
  /** It leads, and everything was read for the first time. */
  hasRead(): boolean
  stop(): Promise<void>
}

/** Starts the operator: takes the lead, then watches and runs the controllers until it is stopped or loses the lead. */
export function startOperator(options: OperatorOptions): Operator {
  const { clock, random, log, metrics } = options
  const tellIntention = intendedWrites(log, clock)
  const api = options.dryRun
    ? dryRunApi(options.api, (write) => tellIntention({ ...write }, 'would write'))
    : options.api
  const stopping = new AbortController()
  let running: { readonly controllers: readonly RunningController[]; readonly informers: WatchInformers } | undefined
  // In a dry run its certificate would never be stored.
  const guarding =
    options.guard === undefined || options.dryRun
      ? undefined
      : startGuarding({ ...options, api, policy: options.appLocks ?? defaultAppLockPolicy }, options.guard)
  metrics.showLive({
    queueKeys: () => Object.fromEntries(running?.controllers.map(({ name, queue }) => [name, queue.depth]) ?? []),
    cacheAgeSeconds: () =>
      Object.fromEntries(
        Object.entries({ ...guarding?.informers.ages(), ...running?.informers.ages() }).map(([name, ageMs]) => [
          name,
          ageMs / 1_000,
        ]),
      ),
  })

  let isRestored = false
  const leader =
    options.lease &&
    new LeaderLease({
      // The lease is real in a dry run too: two dry runs would otherwise both report what one of them would do.
      store: createLeaseStore(options.api, options.lease),
      identity: options.lease.identity,
      ...(options.lease.timing && { timing: options.lease.timing }),
      clock,
      random: random.stream('leader-lease'),
      timestamp: () => microTimestamp(clock),
      onRestored() {
        isRestored = true
        log.error('the API server was restored from a backup: its resource versions went back')
      },
      onChange: (holder) => log.info({ holder }, holder === '' ? 'no operator leads' : 'the leader changed'),
      onError: (error) =>
        log.warn(
          { error: errorText(error) },
          hasReason(error, 'NotFound')
            ? 'the namespace of the lease is missing: apply deploy/, or name another with --lease-namespace'
            : 'the lease could not be read or renewed',
        ),
    })

  const ended = (leader === undefined ? lead(stopping.signal) : leader.run(lead, stopping.signal)).then(async () => {
    const how = stopping.signal.aborted ? 'stopped' : isRestored ? 'restored' : 'lost-lead'
    await guarding?.stop()
    return how
  })

  async function lead(signal: AbortSignal): Promise<void> {
    log.info({ controllers: options.controllers, dryRun: options.dryRun }, 'leading')
    logTrust(options)
    metrics.leading.set(1)
    const mayAct = () => leader === undefined || leader.mayAct()
    const ours = leader === undefined ? api : leadingApi(api, mayAct)
    const { controllers, informers } = buildControllers(options, { api: ours, mayAct, guarding })
    running = {
      informers,
      controllers: controllers.map((controller) =>
        runController(controller, {
          clock,
          random,
          workers: 4,
          onOutcome(outcome) {
            metrics.countOutcome(outcome)
            if (outcome.result === 'done') return
            const { controller: name, key, error, retryInMs } = outcome
            log.warn({ controller: name, key, error: errorText(error), retryInMs }, 'reconcile failed, will retry')
          },
        }),
      ),
    }
    await aborted(signal)
    await Promise.all(running.controllers.map((controller) => controller.stop()))
    informers.stop()
    running = undefined
    metrics.leading.set(0)
  }

  return {
    ended,
    hasRead: () => running?.controllers.every((controller) => controller.isStarted()) === true,
    health: [
      { name: 'process', kind: 'alive', check: () => ({ ok: true }) },
      {
        name: 'controllers',
        kind: 'ready',
        check() {
          if (running === undefined) {
            const holder = leader?.holder()
            return holder ? { ok: true } : { ok: false, why: 'no operator leads yet' }
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

/** Says once on which clusters this operator acts. */
function logTrust({ trust = trustsNone, log }: Pick<OperatorOptions, 'trust' | 'log'>): void {
  const { named, own, grow } = trust
  if (named.length > 0) log.info({ named, own, grow }, 'acts on these CephClusters and on no other')
  else log.info('acts on no CephCluster: name those to manage with --ceph-clusters NAMESPACE/NAME')
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
