import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '@cofferdam/kubernetes/api/admission-registration.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { startStopwatch } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { guardService } from '../deploy/guard-manifests.ts'
import { createGuardCertificates } from '../eviction-guard/controller/guard-certificates.ts'
import { createGuardRegistration, keptConfiguration } from '../eviction-guard/controller/guard-registration.ts'
import { lockedLabel } from '../eviction-guard/domain/namespace-labels.ts'
import type { GuardAddress } from '../eviction-guard/domain/webhook-configuration.ts'
import { defaultCertificateSettings, planCertificates } from '../eviction-guard/guard-certificates.ts'
import { type GuardOptions, type RunningGuard, startGuard } from '../eviction-guard/start-guard.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { Reason } from '../shared/reasons.ts'
import { createEventRecorder } from './event-recorder.ts'
import { errorText } from './log.ts'
import type { Metrics } from './metrics.ts'
import { type Own, once, type SharedViews, type ViewPorts, viewBase } from './shared-views.ts'

export interface GuardWiring {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** How the API server reaches the guard, given where it listens. */
  readonly addressOf: (port: number) => GuardAddress
  /** The names and addresses under which it is called; its certificate is for them. */
  readonly hosts: readonly string[]
  /** On its way out it answers for so long: behind a Service it is still called for a moment. Default 0. */
  readonly lingerMs?: number
  readonly listen?: GuardOptions['listen']
  /** Whether plain deletions of pods are asked about too, by whoever is no part of Kubernetes itself. Default no. */
  readonly guardsDeletions?: boolean
}

/** The guard behind its Service, or under a URL where the API server cannot reach Services. */
export function guardAt({ port, url }: { readonly port: number; readonly url?: string }): GuardWiring {
  if (url === undefined) {
    const { namespace, name } = guardService
    const hosts = [`${name}.${namespace}.svc`]
    return { host: '0.0.0.0', port, addressOf: () => ({ service: guardService }), hosts, lingerMs: 5_000 }
  }
  const address = url.replace(/\/+$/, '')
  return { host: '0.0.0.0', port, addressOf: () => ({ url: address }), hosts: [hostOf(address)] }
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}

export interface GuardPorts extends ViewPorts {
  readonly metrics: Metrics
  readonly views: SharedViews
  readonly policy: AppLockPolicy
}

/** Starts the guard of this process; every replica has one. */
export function runGuard(
  { api, clock, log, metrics, views, policy }: GuardPorts,
  { host, port, lingerMs = 0, listen, guardsDeletions }: GuardWiring,
) {
  return startGuard({
    api,
    clock,
    startStopwatch,
    host,
    port,
    lingerMs,
    ...(listen === undefined ? {} : { listen }),
    guardsDeletions: guardsDeletions === true,
    policy,
    views: {
      pods: views.pods(),
      budgets: views.budgets(),
      nodes: views.nodes(),
      ledger: views.parsedLedger(),
      disruptions: views.disruptions(),
    },
    report: (outcome) => metrics.guard.count(outcome),
    onError: (error) => log.warn({ error: errorText(error) }, 'the eviction guard met a difficulty, goes on'),
  })
}

/** What the leader does for the guards of all replicas. */
export function guardControllers(
  ports: GuardPorts,
  { guard, wiring, own }: { readonly guard: RunningGuard; readonly wiring: GuardWiring; readonly own: Own },
): Record<'guard-certificates' | 'guard-registration', () => Controller> {
  const { api, clock, log, views, policy } = ports
  const base = viewBase(ports)
  const events = createEventRecorder(ports)
  const configurations = once(() =>
    own(
      'validatingwebhookconfigurations',
      createWatchCache<ValidatingWebhookConfiguration>({ ...base, type: validatingWebhookConfigurations }),
    ),
  )
  return {
    'guard-certificates': () =>
      createGuardCertificates({
        api,
        clock,
        configurations: configurations(),
        plan: (seen) => planCertificates({ ...seen, hosts: wiring.hosts, settings: defaultCertificateSettings }),
        report: ({ step, explanation }) => log.info({ step }, explanation),
      }),
    'guard-registration': () =>
      createGuardRegistration({
        api,
        clock,
        policy,
        report: (isThere) => void tellRegistration(ports, events, isThere),
        settings: {
          address: () => {
            const port = guard.port()
            return port === undefined ? undefined : wiring.addressOf(port)
          },
          guardsDeletions: wiring.guardsDeletions === true,
        },
        views: {
          configurations: configurations(),
          namespaces: own(
            'namespaces',
            createWatchCache({
              ...base,
              type: namespaces,
              project: ({ metadata }) => ({ name: metadata.name, label: metadata.labels?.[lockedLabel] }),
            }),
          ),
          budgets: views.budgets(),
          ledger: views.parsedLedger(),
        },
      }),
  }
}

/** Whoever applies deploy/ makes the configuration; without it evictions are not asked about, and all else goes on. */
async function tellRegistration({ log }: GuardPorts, events: EventRecorder<Reason>, isThere: boolean): Promise<void> {
  const { name } = keptConfiguration
  const facts = { configuration: name }
  if (isThere) return log.info(facts, 'the registration of the eviction guard is there again')
  const note = `ValidatingWebhookConfiguration ${name} is missing: the eviction guard is not asked about evictions. Restore it: kubectl apply -f deploy/guard.yaml`
  await events.record(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: guardService.namespace } },
    { type: 'Warning', reason: 'GuardUnregistered', note },
  )
}
