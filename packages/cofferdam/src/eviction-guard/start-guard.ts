import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets, pods, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import { parseLedger } from '../ledger/rules/parse-ledger.ts'
import { disruptionLedgers } from '../shared/kinds/disruption-ledger.ts'
import type { Observed } from '../shared/observed.ts'
import { createAttemptPublisher } from './attempt-publisher.ts'
import { isCallerProof } from './caller-proof.ts'
import { followCertificate } from './certificate-source.ts'
import { followBudgets } from './covering-budgets.ts'
import { guardSecret } from './domain/guard-secret.ts'
import { EvictionAttempts } from './eviction-attempts.ts'
import { createEvictionGuard, type ExplainStorage, type GuardOutcome } from './eviction-guard.ts'
import type { GuardClients } from './guard-clients.ts'
import { type GuardLimits, type GuardServer, type GuardServerOptions, startGuardServer } from './guard-server.ts'
import {
  type GuardedBudget,
  type GuardedDisruption,
  type GuardedNode,
  type GuardedPod,
  parseGuardedBudget,
  parseGuardedPod,
} from './guarded-objects.ts'
import { createLedgerSource } from './ledger-source.ts'
import { createObjectReader } from './object-reader.ts'
import { askOperatorUser } from './operator-user.ts'

export interface GuardOptions {
  readonly api: Pick<KubeApi, 'get' | 'patch' | 'create'>
  readonly clock: Clock
  readonly startStopwatch: () => () => number
  readonly views: {
    readonly pods: WatchView<GuardedPod>
    readonly budgets: WatchView<GuardedBudget>
    readonly nodes: WatchView<GuardedNode>
    readonly ledger: WatchView<Observed<Ledger>>
    /** Indexed by `requestId`. */
    readonly disruptions: WatchView<GuardedDisruption>
  }
  readonly policy: AppLockPolicy
  readonly explainStorage?: ExplainStorage
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Where no network is: how it is reached instead. Default: over HTTPS. */
  readonly listen?: (options: GuardServerOptions) => Promise<GuardServer>
  readonly guardsDeletions?: boolean
  /** Whose client certificates are asked for. Default: none. */
  readonly clients?: GuardClients
  readonly limits?: Partial<GuardLimits>
  /** How often to check whether the certificate changed. */
  readonly certificateEveryMs?: number
  /** While shutting down it goes on answering for so long: the API server does not know yet that it goes. Default 0. */
  readonly lingerMs?: number
  readonly report?: (outcome: GuardOutcome) => void
  readonly onError: (error: unknown) => void
}

export interface RunningGuard {
  /** Where it listens; undefined until it has a certificate. */
  port(): number | undefined
  /** What keeps it from answering, or undefined when nothing does. */
  whatIsMissing(): string | undefined
  /** Answers what it has been asked, and ends. */
  stop(): Promise<void>
}

/** A view that heard nothing for longer is not believed: a quiet watch is heard about once a minute. */
const trustedMs = 180_000

/** Runs the eviction guard: it waits for a certificate, then answers the API server until it is stopped. */
export function startGuard(options: GuardOptions): RunningGuard {
  const { api, clock, views, onError, listen = startGuardServer } = options
  const stopping = new AbortController()
  const budgets = followBudgets({
    view: views.budgets,
    clock,
    policy: options.policy,
    trustedMs,
    read: createObjectReader({
      kind: 'budget',
      clock,
      read: async (key, signal) => parseGuardedBudget(await api.get(podDisruptionBudgets, key, { signal })),
    }),
  })
  const publisher = createAttemptPublisher({
    api,
    clock,
    onError,
    isClosed: (name) => views.nodes.get({ name })?.isClosed === true,
  })
  const operatorUser = askOperatorUser({ api, clock, signal: stopping.signal, onError })
  const guard = createEvictionGuard({
    clock,
    startStopwatch: options.startStopwatch,
    operatorUser: operatorUser.current,
    pods: views.pods,
    readPod: createObjectReader({
      kind: 'pod',
      clock,
      read: async (key, signal) => parseGuardedPod(await api.get(pods, key, { signal })),
    }),
    budgets,
    ledger: createLedgerSource({ view: views.ledger, read: readLedger, clock }),
    breakGlassOf: (requestId) => views.disruptions.byIndex('requestId', requestId)[0]?.breakGlass,
    attempts: new EvictionAttempts({ clock }),
    publisher,
    trustedMs,
    ...(options.explainStorage === undefined ? {} : { explainStorage: options.explainStorage }),
    ...(options.report === undefined ? {} : { report: options.report }),
    ...(options.guardsDeletions === undefined ? {} : { guardsDeletions: options.guardsDeletions }),
  })
  let server: GuardServer | undefined
  let signingKeys: readonly string[] = []

  const following = followCertificate({
    clock,
    signal: stopping.signal,
    onError,
    ...(options.certificateEveryMs === undefined ? {} : { everyMs: options.certificateEveryMs }),
    read: readSecret,
    async onSecret({ serving: certificate, signingKeys: keys }) {
      signingKeys = keys
      if (server !== undefined) return server.setCertificate(certificate)
      server = await listen({
        host: options.host,
        port: options.port,
        certificate,
        answer: guard.answer,
        recognises: (proof) => isCallerProof(proof, signingKeys),
        ...(options.clients === undefined ? {} : { clients: options.clients }),
        whatIsMissing,
        onError,
        ...(options.limits === undefined ? {} : { limits: options.limits }),
      })
    },
  })

  async function readSecret(signal: AbortSignal) {
    try {
      return (await api.get(secrets, guardSecret, { signal })).data
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  async function readLedger(signal: AbortSignal): Promise<Observed<Ledger>> {
    try {
      return parseLedger(await api.get(disruptionLedgers, { name: 'cluster' }, { signal }))
    } catch (error) {
      if (hasReason(error, 'NotFound')) return parseLedger(undefined)
      throw error
    }
  }

  function whatIsMissing(): string | undefined {
    if (stopping.signal.aborted) return 'it is shutting down'
    if (server === undefined) return 'there is no certificate yet'
    const unread = Object.entries(views).filter(([, view]) => !view.synced)
    return unread.length === 0 ? undefined : `not read yet: ${unread.map(([name]) => name).join(', ')}`
  }

  return {
    port: () => server?.port,
    whatIsMissing,
    async stop() {
      stopping.abort()
      await Promise.all([following, operatorUser.asked])
      if (server !== undefined) await sleep(clock, options.lingerMs ?? 0)
      await server?.close()
      await publisher.stop()
      budgets.stop()
    },
  }
}
