import type { KubeObject } from './kube-object.ts'
import type { LabelSelector } from './label-selector.ts'
import type { ResourceType } from './resource-type.ts'

export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: {
    readonly namespace: string
    readonly name: string
    readonly path?: string
    readonly port?: number
  }
  /** PEM, in base64. */
  readonly caBundle?: string
}

export interface ValidatingWebhook {
  readonly name: string
  readonly clientConfig: WebhookClientConfig
  readonly rules?: readonly {
    readonly operations: readonly string[]
    readonly apiGroups: readonly string[]
    readonly apiVersions: readonly string[]
    readonly resources: readonly string[]
    readonly scope?: string
  }[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchPolicy?: 'Equivalent' | 'Exact'
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions: readonly string[]
}

export interface ValidatingWebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly ValidatingWebhook[]
}

export const validatingWebhookConfigurations: ResourceType<ValidatingWebhookConfiguration> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
}
