import type { JsonObject } from '../api/json.ts'
import { operatorAccount } from './operator-manifests.ts'

/** Under which the API server calls the guard; its certificate is for `NAME.NAMESPACE.svc`. */
export const guardService = { namespace: operatorAccount.namespace, name: 'cofferdam-guard', port: 443 } as const

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
        labels: { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'eviction-guard' },
      },
      spec: { selector: operator, ports: [{ name: 'https', port, targetPort: 'guard' }] },
    },
  ]
}
