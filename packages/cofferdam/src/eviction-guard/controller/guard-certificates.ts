import type { ValidatingWebhookConfiguration } from '@cofferdam/kubernetes/api/admission-registration.ts'
import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Secret } from '@cofferdam/kubernetes/api/core.ts'
import { secrets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { Permission } from '../../shared/permission.ts'
import { guardSecret, guardSecretFields } from '../domain/guard-secret.ts'
import { guardConfigurationName } from '../domain/webhook-configuration.ts'

const { namespace, name } = guardSecret

export const guardCertificatesPermissions: readonly Permission[] = [
  // A create cannot be limited to a name: the name is not known to the authorizer then.
  { group: '', resource: 'secrets', namespace, verbs: ['create'] },
  { group: '', resource: 'secrets', namespace, names: [name], verbs: ['get', 'update'] },
  { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations', verbs: ['list', 'watch'] },
]

export interface GuardCertificatesPorts {
  readonly api: Pick<KubeApi, 'get' | 'create' | 'update'>
  readonly clock: Clock
  /** The guard's own configuration, or all of them. */
  readonly configurations: WatchView<ValidatingWebhookConfiguration>
  /** What the Secret should hold, given what it holds and since when the API server has had its authorities. */
  readonly plan: (seen: {
    readonly nowMs: number
    readonly data: Secret['data'] | undefined
    readonly carriedSinceMs: number | undefined
  }) => {
    readonly step: string
    readonly explanation: string
    readonly data: Readonly<Record<string, string>> | undefined
    readonly recheckAfterMs: number
  }
  readonly report: (done: { readonly step: string; readonly explanation: string }) => void
}

/** Keeps the guard's authority and certificate in a Secret, and changes them in time. The one key is the Secret's name. */
export function createGuardCertificates({
  api,
  clock,
  configurations,
  plan,
  report,
}: GuardCertificatesPorts): Controller {
  let carried: { readonly authorities: string; readonly sinceMs: number } | undefined

  /** Timed by what this process saw itself: after a restart the API server is given its time once more. */
  function carriedSinceMs(authorities: string | undefined, nowMs: number): number | undefined {
    const webhooks = configurations.get({ name: guardConfigurationName })?.webhooks ?? []
    const isCarried =
      authorities !== undefined &&
      webhooks.length > 0 &&
      webhooks.every(({ clientConfig }) => clientConfig.caBundle === authorities)
    if (!isCarried) carried = undefined
    else if (carried?.authorities !== authorities) carried = { authorities, sinceMs: nowMs }
    return carried?.sinceMs
  }

  async function read(signal: AbortSignal): Promise<Secret | undefined> {
    try {
      return await api.get(secrets, guardSecret, { signal })
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  return {
    name: 'guard-certificates',

    async start(enqueue, signal) {
      const end = configurations.subscribe(({ key }) => {
        if (key === guardConfigurationName) enqueue(name)
      })
      signal.addEventListener('abort', end, { once: true })
      await configurations.whenSynced(signal)
      enqueue(name)
    },

    async reconcile(_key, signal) {
      const nowMs = clock.now()
      const secret = await read(signal)
      const since = carriedSinceMs(secret?.data?.[guardSecretFields.authorities], nowMs)
      const { step, explanation, data, recheckAfterMs } = plan({ nowMs, data: secret?.data, carriedSinceMs: since })
      if (data !== undefined) {
        try {
          if (secret === undefined) await api.create(secrets, buildSecret(data), { signal })
          else await api.update(secrets, { ...secret, data }, { signal })
          report({ step, explanation })
        } catch (error) {
          // Another operator was faster: what it wrote is read the next time.
          if (!hasReason(error, 'Conflict', 'AlreadyExists')) throw error
          return { recheckAfterSeconds: 1 }
        }
      }
      return { recheckAfterSeconds: recheckAfterMs / 1_000 }
    },
  }
}

function buildSecret(data: Readonly<Record<string, string>>): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...guardSecret,
      labels: { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'eviction-guard' },
    },
    type: 'kubernetes.io/tls',
    data,
  }
}
