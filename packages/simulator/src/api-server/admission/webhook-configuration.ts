import type { LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'

/** One webhook of a ValidatingWebhookConfiguration, as it is stored: defaults set. */
export interface ValidatingWebhook {
  readonly name: string
  readonly clientConfig: WebhookClientConfig
  readonly rules?: readonly WebhookRule[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchPolicy?: 'Equivalent' | 'Exact'
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  readonly sideEffects?: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions?: readonly string[]
}

export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: ServiceReference
  /** PEM, in base64. */
  readonly caBundle?: string
}

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly path?: string
  readonly port?: number
}

export interface WebhookRule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
}
