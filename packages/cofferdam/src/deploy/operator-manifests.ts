import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/** Whom the operator runs as; its lease has the same name. */
export const operatorAccount = { namespace: 'cofferdam-system', name: 'cofferdam-operator' } as const

/** On which port each replica answers as eviction guard. */
export const guardPort = 7444

/** On which port each replica serves its page. */
export const dashboardPort = 7401

const { namespace, name } = operatorAccount
export const operatorLabels = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'operator' }
const labels = operatorLabels

/**
 * The engine sets half as much aside for what was just made, so that a large cluster is read in less memory. Its other limit, that of
 * growth, the program sets itself. Both are paid for with CPU: docs/reference/benchmarks.md. The C library keeps what large answers took
 * for the next ones unless it is asked to return it.
 */
export const operatorEnvironment = {
  NODE_OPTIONS: '--max-semi-space-size=8',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const

/** Two replicas that agree on a leader, kept apart, and a budget so that a drain never takes both. */
export function buildOperatorWorkload({ image }: { readonly image: string }): JsonObject[] {
  const healthPort = 7480
  const probe = (path: string) => ({ httpGet: { path, port: 'health' }, periodSeconds: 10 })
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: name,
            priorityClassName: 'system-cluster-critical',
            securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            affinity: {
              podAntiAffinity: {
                preferredDuringSchedulingIgnoredDuringExecution: [
                  {
                    weight: 100,
                    podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } },
                  },
                ],
              },
            },
            containers: [
              {
                name: 'operator',
                image,
                args: ['operator', '--health-host', '0.0.0.0', '--health-port', String(healthPort)],
                ports: [
                  { name: 'health', containerPort: healthPort },
                  { name: 'guard', containerPort: guardPort },
                ],
                env: Object.entries(operatorEnvironment).map(([variable, value]) => ({ name: variable, value })),
                livenessProbe: probe('/healthz'),
                readinessProbe: probe('/readyz'),
                // Twice what 5,000 nodes and 150,000 pods took at most (npm run bench -- scale).
                resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } },
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ['ALL'] },
                },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace, labels },
      spec: { maxUnavailable: 1, selector: { matchLabels: labels }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    },
  ]
}
