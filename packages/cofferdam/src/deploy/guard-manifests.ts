import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { keptConfiguration } from '../eviction-guard/controller/guard-registration.ts'
import { operatorAccount } from './operator-manifests.ts'

/** Under which the API server calls the guard; its certificate is for `NAME.NAMESPACE.svc`. */
export const guardService = { namespace: operatorAccount.namespace, name: 'cofferdam-guard', port: 443 } as const

const labels = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'eviction-guard' }

/** Every replica of the operator answers as guard, whether it leads or not. */
export function buildGuardService(): JsonObject[] {
  const { namespace, name, port } = guardService
  const operator = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'operator' }
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name,
        namespace,
        labels,
      },
      spec: { selector: operator, ports: [{ name: 'https', port, targetPort: 'guard' }] },
    },
  ]
}

/**
 * The registration of the guard, which the operator may change but not make. It says nothing of `webhooks`: the operator fills
 * them in with its certificate, and whoever applies this file again, by hand or from a repository, does not take them out. Until
 * then it guards nothing.
 */
export function buildGuardConfigurationManifest(): JsonObject[] {
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { ...keptConfiguration, labels },
    },
  ]
}
