import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { keptConfiguration } from '../eviction-guard/controller/guard-registration.ts'
import { dashboardPort, operatorAccount, operatorLabels } from './operator-manifests.ts'

/** Under which the API server calls the guard; its certificate is for `NAME.NAMESPACE.svc`. */
export const guardService = { namespace: operatorAccount.namespace, name: 'cofferdam-guard', port: 443 } as const

const labels = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'eviction-guard' }

/** Every replica of the operator answers as guard, whether it leads or not. */
export function buildGuardService(): JsonObject[] {
  const { namespace, name, port } = guardService
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name,
        namespace,
        labels,
      },
      spec: { selector: operatorLabels, ports: [{ name: 'https', port, targetPort: 'guard' }] },
    },
  ]
}

/** Stands for the addresses of the control plane, which every cluster has others of; no host has one of these. */
const exampleControlPlane = '192.0.2.0/24'

/** Lets nothing but the control plane reach the guard, where the network of the cluster heeds policies. */
export function buildGuardNetworkPolicy(
  from: JsonObject['from'] = [{ ipBlock: { cidr: exampleControlPlane } }],
): JsonObject[] {
  const { namespace, name } = guardService
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name, namespace, labels },
      spec: {
        podSelector: { matchLabels: operatorLabels },
        policyTypes: ['Ingress'],
        ingress: [
          { from, ports: [{ port: 'guard' }] },
          // What a policy does not name it closes.
          { ports: [{ port: 'health' }, { port: dashboardPort }] },
        ],
      },
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
