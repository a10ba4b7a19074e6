import type { JsonObject } from '../api/json.ts'
import { medik8sLeaseNamespace } from '../api/machines.ts'
import type { Permission } from '../controllers/permission.ts'

/** Whom the operator runs as; its lease has the same name. */
export const operatorAccount = { namespace: 'cofferdam-system', name: 'cofferdam-operator' } as const

/** On which port each replica answers as eviction guard. */
export const guardPort = 7444

const { namespace, name } = operatorAccount
const labels = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'operator' }
const subjects = [{ kind: 'ServiceAccount', name, namespace }]

/** The operator's identity and rights: one ClusterRole per controller, so that a reader sees who needs what. */
export function buildAccess(permissions: Readonly<Record<string, readonly Permission[]>>): JsonObject[] {
  const perController = Object.entries(permissions).flatMap(([controller, rights]) => [
    ...grant(
      `cofferdam:${controller}`,
      undefined,
      rights.filter((right) => right.namespace === undefined),
    ),
    ...[...new Set(rights.flatMap((right) => right.namespace ?? []))]
      .filter((where) => where !== medik8sLeaseNamespace)
      .flatMap((where) => grantIn(where, controller, rights)),
  ])
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels } },
    ...perController,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'cofferdam:leader-lease', namespace, labels },
      rules: [
        // A create cannot be limited to a name: the name is not known to the authorizer then.
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [name], verbs: ['get', 'update'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'cofferdam:leader-lease', namespace, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'cofferdam:leader-lease' },
      subjects,
    },
  ]
}

/**
 * Rights in the namespace where medik8s keeps its Leases. Not among the operator's other rights: not every cluster has the
 * namespace, and a right to all Leases would reach those of others.
 */
export function buildMedik8sAccess(permissions: Readonly<Record<string, readonly Permission[]>>): JsonObject[] {
  return Object.entries(permissions).flatMap(([controller, rights]) =>
    grantIn(medik8sLeaseNamespace, controller, rights),
  )
}

function grantIn(where: string, controller: string, rights: readonly Permission[]): JsonObject[] {
  return grant(
    `cofferdam:${controller}`,
    where,
    rights.filter((right) => right.namespace === where),
  )
}

/** A role and who has it: in one namespace, or everywhere. */
function grant(role: string, where: string | undefined, rights: readonly Permission[]): JsonObject[] {
  if (rights.length === 0) return []
  const kind = where === undefined ? 'ClusterRole' : 'Role'
  const metadata = { name: role, ...(where === undefined ? {} : { namespace: where }), labels }
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind,
      metadata,
      rules: rights.map(({ group, resource, names, verbs }) => ({
        apiGroups: [group],
        resources: [resource],
        ...(names === undefined ? {} : { resourceNames: names }),
        verbs,
      })),
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
      subjects,
    },
  ]
}

/**
 * The right to ask Ceph through its toolbox pod, in the one namespace where that runs.
 *
 * Not among the operator's other rights: to run programs in pods is a large right, and whoever gives the operator a
 * `ceph.conf` does not need it.
 */
export function buildToolboxAccess({ namespace: rookNamespace }: { readonly namespace: string }): JsonObject[] {
  const metadata = { name: 'cofferdam:ceph-toolbox', namespace: rookNamespace, labels }
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      // Clients that speak WebSocket ask with GET, for which servers want `get`, and newer ones `create` as well.
      rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ]
}

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
                livenessProbe: probe('/healthz'),
                readinessProbe: probe('/readyz'),
                resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
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
