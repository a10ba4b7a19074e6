import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '@cofferdam/kubernetes/api/admission-registration.ts'
import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { namespaces, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { AppLockPolicy } from '../../ledger/rules/app-lock.ts'
import { namespacesOfChangedLocks } from '../../ledger/rules/app-lock-record.ts'
import { appLocksInForce } from '../../ledger/rules/app-locks.ts'
import { parseBudgetKey } from '../../ledger/rules/keys.ts'
import { emptyLedger, type Ledger } from '../../ledger/rules/ledger.ts'
import type { AnnotatedBudget } from '../../shared/app-lock-annotation.ts'
import { known, type Observed } from '../../shared/observed.ts'
import type { Permission } from '../../shared/permission.ts'
import { callerProof } from '../caller-proof.ts'
import { guardSecret, guardSecretFields } from '../domain/guard-secret.ts'
import { decideNamespaceLabels, lockedLabel } from '../domain/namespace-labels.ts'
import {
  buildGuardConfiguration,
  type GuardAddress,
  guardConfigurationName,
  isAsBuilt,
} from '../domain/webhook-configuration.ts'

const registrations = { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' }

/** The one configuration that is kept as it should be; deploy/ ships it. */
export const keptConfiguration = { name: guardConfigurationName } as const

export const guardRegistrationPermissions: readonly Permission[] = [
  // The configuration is shipped with deploy/: a right to create one would be a right to create any.
  { ...registrations, verbs: ['list', 'watch'] },
  { ...registrations, names: [guardConfigurationName], verbs: ['update'] },
  { group: '', resource: 'namespaces', verbs: ['list', 'watch', 'patch'] },
  { group: '', resource: 'secrets', namespace: guardSecret.namespace, names: [guardSecret.name], verbs: ['get'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch'] },
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface GuardRegistrationPorts {
  readonly api: Pick<KubeApi, 'get' | 'update' | 'patch'>
  readonly clock: Clock
  readonly settings: {
    /** Undefined while it is not known where the guard listens. */
    readonly address: () => GuardAddress | undefined
    readonly guardsDeletions: boolean
    /** The Secret is not watched, but polled this often. Default 30 s. */
    readonly recheckSeconds?: number
  }
  readonly views: {
    /** The guard's own configuration, or all of them. */
    readonly configurations: WatchView<ValidatingWebhookConfiguration>
    readonly namespaces: WatchView<NamespaceMark>
    /** Indexed by `namespace`. */
    readonly budgets: WatchView<AnnotatedBudget & { readonly namespace: string }>
    readonly ledger: WatchView<Observed<Ledger>>
  }
  readonly policy: AppLockPolicy
  /** Called when the configuration is missing, and when it is there again. Nobody here may make it. */
  readonly report: (isThere: boolean) => void
}

/** What is kept of a Namespace. */
export interface NamespaceMark {
  readonly name: string
  readonly label: string | undefined
}

const configurationKey = 'configuration'
const labelPrefix = 'namespace/'

/**
 * Keeps the guard registered with the API server, and the namespaces that hold a lock labelled. Keys are `configuration`
 * and `namespace/NAME`. Whatever is changed by hand is changed back.
 */
export function createGuardRegistration(ports: GuardRegistrationPorts): Controller {
  const { api, clock, settings, views, policy } = ports
  let wasThere = true

  function reportPresence(isThere: boolean): void {
    if (isThere === wasThere) return
    wasThere = isThere
    ports.report(isThere)
  }

  async function keepConfiguration(signal: AbortSignal) {
    const held = await readSecret(signal)
    const address = settings.address()
    const { guardsDeletions, recheckSeconds = 30 } = settings
    if (held === undefined || address === undefined) return { recheckAfterSeconds: Math.min(1, recheckSeconds) }
    const { caBundle, signingKey } = held
    const proof = callerProof(signingKey)
    const { namespace: ownNamespace } = guardSecret
    const built = buildGuardConfiguration({ address, caBundle, guardsDeletions, ownNamespace, proof })
    const actual = views.configurations.get({ name: guardConfigurationName })
    reportPresence(actual !== undefined)
    if (actual !== undefined && !isAsBuilt(actual, built)) await write(actual, built, signal)
    return { recheckAfterSeconds: recheckSeconds }
  }

  async function readSecret(signal: AbortSignal) {
    try {
      const { data = {} } = await api.get(secrets, guardSecret, { signal })
      const { [guardSecretFields.authorities]: caBundle, [guardSecretFields.signingKey]: key } = data
      if (caBundle === undefined || key === undefined) return undefined
      return { caBundle, signingKey: Buffer.from(key, 'base64').toString('utf8') }
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  async function write(
    actual: ValidatingWebhookConfiguration,
    built: ValidatingWebhookConfiguration,
    signal: AbortSignal,
  ): Promise<void> {
    const { metadata, webhooks = [] } = built
    const written = await api.update(
      validatingWebhookConfigurations,
      {
        ...actual,
        metadata: { ...actual.metadata, labels: { ...actual.metadata.labels, ...metadata.labels } },
        webhooks,
      },
      { signal },
    )
    await views.configurations.whenSeen(written.metadata.resourceVersion ?? '', signal)
  }

  function appLocksUntilMs(namespace: string, ledger: Observed<Ledger>, nowMs: number): number[] {
    const budgets = views.budgets.byIndex('namespace', namespace)
    const locks = appLocksInForce({ namespace, budgets, records: recordsIn(ledger), policy, nowMs })
    return [...locks.values()].map(({ untilMs }) => untilMs)
  }

  async function keepLabel(name: string, signal: AbortSignal) {
    const mark = views.namespaces.get({ name })
    if (mark === undefined) return undefined
    const nowMs = clock.now()
    const [ledger = known(emptyLedger)] = views.ledger.list()
    const { set, remove, recheckAfterMs } = decideNamespaceLabels({
      nowMs,
      namespaces: [{ ...mark, appLocksUntilMs: appLocksUntilMs(name, ledger, nowMs) }],
      ledger,
      ownNamespace: guardSecret.namespace,
    })
    if (set.length + remove.length > 0) {
      const labels = { [lockedLabel]: set.length > 0 ? 'true' : null }
      try {
        const patch = { type: 'merge', body: { metadata: { labels } } } as const
        const written = await api.patch(namespaces, { name }, patch, { signal })
        await views.namespaces.whenSeen(written.metadata.resourceVersion ?? '', signal)
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
      }
    }
    return recheckAfterMs === undefined ? undefined : { recheckAfterSeconds: Math.ceil(recheckAfterMs / 1000) }
  }

  return {
    name: 'guard-registration',

    async start(enqueue, signal) {
      const enqueueNamespace = (namespace: string) => enqueue(`${labelPrefix}${namespace}`)
      const ends = [
        views.configurations.subscribe(({ key }) => {
          if (key === guardConfigurationName) enqueue(configurationKey)
        }),
        views.namespaces.subscribe(({ key }) => enqueueNamespace(key)),
        views.budgets.subscribe((change) => enqueueNamespace(lastOf(change).namespace)),
        views.ledger.subscribe((change) => {
          for (const namespace of namespacesIn(change)) enqueueNamespace(namespace)
          // While it could not be read, no label was taken away.
          if ('previous' in change && !change.previous.known)
            for (const { name } of views.namespaces.list()) enqueueNamespace(name)
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await Promise.all(Object.values(views).map((view) => view.whenSynced(signal)))
      enqueue(configurationKey)
      for (const { name } of views.namespaces.list()) enqueueNamespace(name)
    },

    async reconcile(key, signal) {
      if (key === configurationKey) return keepConfiguration(signal)
      return keepLabel(key.slice(labelPrefix.length), signal)
    },
  }
}

function lastOf<V>(change: ViewChange<V>): V {
  return change.type === 'removed' ? change.previous : change.value
}

/** Namespaces of every budget that requests hold, before the change and after, and of those whose owners' locks have changed. */
function namespacesIn(change: ViewChange<Observed<Ledger>>): ReadonlySet<string> {
  const before = 'previous' in change ? change.previous : known(emptyLedger)
  const after = 'value' in change ? change.value : known(emptyLedger)
  const entries = [before, after].flatMap((ledger) => (ledger.known ? ledger.value.entries : []))
  const held = entries.flatMap(({ key }) => parseBudgetKey(key)?.namespace ?? [])
  return new Set([...held, ...namespacesOfChangedLocks(recordsIn(before), recordsIn(after))])
}

function recordsIn(ledger: Observed<Ledger>): Ledger['appLocks'] {
  return ledger.known ? ledger.value.appLocks : []
}
