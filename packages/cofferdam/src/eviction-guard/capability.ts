import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '@cofferdam/kubernetes/api/admission-registration.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Capability, OpenCapability } from '../capabilities/capability.ts'
import type { CommonPorts } from '../capabilities/ports.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { Ledger } from '../ledger/rules/ledger.ts'
import type { Observed } from '../shared/observed.ts'
import { once } from '../shared/once.ts'
import { createGuardCertificates, guardCertificatesPermissions } from './controller/guard-certificates.ts'
import { evictionGuardPermissions } from './controller/guard-permissions.ts'
import {
  createGuardRegistration,
  type GuardRegistrationPorts,
  guardRegistrationPermissions,
  keptConfiguration,
} from './controller/guard-registration.ts'
import { guardSecret } from './domain/guard-secret.ts'
import { lockedLabel } from './domain/namespace-labels.ts'
import { defaultCertificateSettings, planCertificates } from './guard-certificates.ts'
import { evictionGuardTraces } from './traces.ts'

interface Ports extends CommonPorts {
  readonly views: {
    readonly budgets: () => GuardRegistrationPorts['views']['budgets']
    readonly parsedLedger: () => WatchView<Observed<Ledger>>
  }
  readonly appLocks: AppLockPolicy
  /** Undefined where this process answers no reviews. */
  readonly guard: RegisteredGuard | undefined
}

/** What the leader needs to know of its own guard to register those of all replicas. */
export interface RegisteredGuard {
  /** Under which they are called. */
  readonly hosts: readonly string[]
  readonly guardsDeletions: boolean
  readonly address: GuardRegistrationPorts['settings']['address']
}

export const evictionGuard = {
  name: 'eviction-guard',
  summary: 'Refuses evictions that would break a lock or a hold, in the API server itself.',
  controllers: [
    { name: 'guard-certificates', rights: guardCertificatesPermissions },
    { name: 'guard-registration', rights: guardRegistrationPermissions },
  ],
  replicaRights: { 'eviction-guard': evictionGuardPermissions },
  traces: evictionGuardTraces,
  install: () => open,
} as const satisfies Capability<Ports>

/** What the leader does for the guards of all replicas. */
function open(ports: Ports): OpenCapability {
  const { api, clock, log, informers, views, appLocks: policy, guard } = ports
  if (guard === undefined) return { controllers: {} }
  const configurations = once(() =>
    informers.open<ValidatingWebhookConfiguration>('validatingwebhookconfigurations', {
      type: validatingWebhookConfigurations,
    }),
  )
  return {
    controllers: {
      'guard-certificates': () =>
        createGuardCertificates({
          api,
          clock,
          configurations: configurations(),
          plan: (seen) => planCertificates({ ...seen, hosts: guard.hosts, settings: defaultCertificateSettings }),
          report: ({ step, explanation }) => log.info({ step }, explanation),
        }),
      'guard-registration': () =>
        createGuardRegistration({
          api,
          clock,
          policy,
          report: (isThere) => void reportRegistration(ports, isThere),
          settings: { address: guard.address, guardsDeletions: guard.guardsDeletions },
          views: {
            configurations: configurations(),
            namespaces: informers.open('namespaces', {
              type: namespaces,
              project: ({ metadata }) => ({ name: metadata.name, label: metadata.labels?.[lockedLabel] }),
            }),
            budgets: views.budgets(),
            ledger: views.parsedLedger(),
          },
        }),
    },
  }
}

/** Whoever applies deploy/ makes the configuration; without it evictions are not asked about, and all else goes on. */
async function reportRegistration({ log, events }: Pick<Ports, 'log' | 'events'>, isThere: boolean): Promise<void> {
  const { name } = keptConfiguration
  if (isThere) return log.info({ configuration: name }, 'the registration of the eviction guard is there again')
  const note = `ValidatingWebhookConfiguration ${name} is missing: the API server does not send evictions to the eviction guard. Restore it: kubectl apply -f deploy/guard.yaml`
  await events.record(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: guardSecret.namespace } },
    { type: 'Warning', reason: 'GuardUnregistered', note },
  )
}
