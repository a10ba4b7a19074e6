import type {
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '@cofferdam/kubernetes/api/admission-registration.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { LabelSelectorRequirement } from '@cofferdam/kubernetes/api/label-selector.ts'
import { lockedLabel } from './namespace-labels.ts'
import { ownControllers } from './own-controllers.ts'

export const guardConfigurationName = 'cofferdam-eviction-guard'

const ownLabels = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'eviction-guard' }

/** Where the API server sends reviews: one path for namespaces without a lock, one for those with. */
export const guardPaths = { eviction: '/validate/eviction', locked: '/validate/locked' } as const

/** What a path under which the guard is called says; undefined: it is none of its own. */
export function parseGuardPath(path: string): { readonly isStrict: boolean; readonly proof: string } | undefined {
  const [, root, kind, proof = '', ...rest] = path.split('/')
  const at = `/${root}/${kind}`
  if (rest.length > 0 || (at !== guardPaths.eviction && at !== guardPaths.locked)) return undefined
  return { isStrict: at === guardPaths.locked, proof }
}

/** How the API server reaches the guard: a Service in the cluster, or a URL without a path. */
export type GuardAddress =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }

export interface GuardConfigurationOptions {
  readonly address: GuardAddress
  /** PEM of all authorities to trust, in base64. */
  readonly caBundle: string
  /** The guard's own namespace: it must be possible to remove a guard that does not answer. */
  readonly ownNamespace: string
  readonly guardsDeletions: boolean
  /** The last word of the paths, by which the guard recognises the API server. */
  readonly proof: string
}

/**
 * How the guard is registered: where no lock is held it may fail without consequence, where one is held nothing is evicted
 * without it.
 */
export function buildGuardConfiguration(options: GuardConfigurationOptions): ValidatingWebhookConfiguration {
  const notOwn = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [options.ownNamespace] } as const
  const isLocked = { key: lockedLabel, values: ['true'] } as const
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: guardConfigurationName, labels: ownLabels },
    webhooks: [
      webhook({
        options,
        name: 'eviction.guard.cofferdam.io',
        failurePolicy: 'Ignore',
        path: guardPaths.eviction,
        namespaces: [notOwn, { ...isLocked, operator: 'NotIn' }],
      }),
      webhook({
        options,
        name: 'locked.guard.cofferdam.io',
        failurePolicy: 'Fail',
        path: guardPaths.locked,
        namespaces: [notOwn, { ...isLocked, operator: 'In' }],
      }),
    ],
  }
}

/** Whether somebody changed what we own of it. Labels and annotations of others are theirs. */
export function isAsBuilt(actual: ValidatingWebhookConfiguration, built: ValidatingWebhookConfiguration): boolean {
  return (
    isSameJson(actual.webhooks, built.webhooks) &&
    Object.entries(ownLabels).every(([key, value]) => actual.metadata.labels?.[key] === value)
  )
}

interface WebhookOptions {
  readonly options: GuardConfigurationOptions
  readonly name: string
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly path: string
  readonly namespaces: readonly LabelSelectorRequirement[]
}

/** Every field that the server would fill in is named, so that what is stored can be held against this. */
function webhook({ options, name, failurePolicy, path, namespaces }: WebhookOptions): ValidatingWebhook {
  const scope = 'Namespaced'
  const pods = { apiGroups: [''], apiVersions: ['v1'], scope }
  const evictions = { ...pods, operations: ['CREATE'], resources: ['pods/eviction'] }
  const deletions = { ...pods, operations: ['DELETE'], resources: ['pods'] }
  return {
    name,
    clientConfig: { ...addressOf(options.address, `${path}/${options.proof}`), caBundle: options.caBundle },
    rules: options.guardsDeletions ? [evictions, deletions] : [evictions],
    failurePolicy,
    matchPolicy: 'Equivalent',
    namespaceSelector: { matchExpressions: namespaces },
    objectSelector: {},
    ...(options.guardsDeletions ? { matchConditions: exemptions } : {}),
    // It notes on the node that somebody tried; of a dry run it notes nothing.
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: 3,
    admissionReviewVersions: ['v1'],
  }
}

/** The guard exempts the same; here it does not even have to be up for a kubelet to finish a pod, or for a rollout to go on. */
const exemptions = [
  {
    name: 'kubelets-finish-pods',
    expression: "request.operation != 'DELETE' || !('system:nodes' in request.userInfo.groups)",
  },
  {
    name: 'leaving-pods-go',
    expression: "request.operation != 'DELETE' || !has(oldObject.metadata.deletionTimestamp)",
  },
  {
    name: 'finished-pods-go',
    expression:
      "request.operation != 'DELETE' || !has(oldObject.status) || !has(oldObject.status.phase) || !(oldObject.status.phase in ['Succeeded', 'Failed'])",
  },
  {
    name: 'own-controllers-go-on',
    expression: `request.operation != 'DELETE' || !request.userInfo.username.matches('${ownControllers.source}')`,
  },
] as const

function addressOf(address: GuardAddress, path: string): WebhookClientConfig {
  return 'url' in address ? { url: `${address.url}${path}` } : { service: { ...address.service, path } }
}
