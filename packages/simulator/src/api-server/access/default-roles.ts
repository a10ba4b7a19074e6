import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PolicyRule, Role, RoleBinding, RoleSubject } from './policy-rule.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }
const read = ['get', 'list', 'watch']
const write = ['create', 'delete', 'deletecollection', 'patch', 'update']

const workloads: readonly Pick<PolicyRule, 'apiGroups' | 'resources'>[] = [
  {
    apiGroups: [''],
    resources: [
      'configmaps',
      'endpoints',
      'persistentvolumeclaims',
      'pods',
      'replicationcontrollers',
      'serviceaccounts',
      'services',
    ],
  },
  {
    apiGroups: ['apps'],
    resources: [
      'daemonsets',
      'deployments',
      'deployments/scale',
      'replicasets',
      'replicasets/scale',
      'statefulsets',
      'statefulsets/scale',
    ],
  },
  { apiGroups: ['batch'], resources: ['cronjobs', 'jobs'] },
  { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'networkpolicies'] },
]

const viewRules: readonly PolicyRule[] = [
  ...workloads.map((covered) => ({ ...covered, verbs: read })),
  {
    verbs: read,
    apiGroups: [''],
    resources: [
      'bindings',
      'events',
      'limitranges',
      'namespaces',
      'namespaces/status',
      'pods/log',
      'pods/status',
      'resourcequotas',
    ],
  },
  {
    verbs: read,
    apiGroups: ['apps', 'batch', 'policy'],
    resources: [
      'daemonsets/status',
      'deployments/status',
      'jobs/status',
      'poddisruptionbudgets/status',
      'replicasets/status',
      'statefulsets/status',
    ],
  },
  { verbs: read, apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
]

const editRules: readonly PolicyRule[] = [
  ...workloads.map((covered) => ({ ...covered, verbs: write })),
  { verbs: [...read, ...write], apiGroups: [''], resources: ['secrets'] },
  { verbs: ['create'], apiGroups: [''], resources: ['events', 'pods/eviction', 'serviceaccounts/token'] },
  { verbs: [...read, ...write], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
]

const adminRules: readonly PolicyRule[] = [
  { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews'] },
  { verbs: [...read, ...write], apiGroups: [apiGroup], resources: ['rolebindings', 'roles'] },
]

const discoveryPaths = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
]
const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/']

/** The roles and bindings that every cluster starts with, as far as they say something about people. */
export function defaultRoles(): readonly KubeObject[] {
  return [
    role('cluster-admin', [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ]),
    role('system:discovery', [{ verbs: ['get'], nonResourceURLs: discoveryPaths }]),
    role('system:public-info-viewer', [{ verbs: ['get'], nonResourceURLs: publicPaths }]),
    role('system:basic-user', [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ]),
    role('system:aggregate-to-view', viewRules, { [aggregation('view')]: 'true' }),
    role('system:aggregate-to-edit', editRules, { [aggregation('edit')]: 'true' }),
    role('system:aggregate-to-admin', adminRules, { [aggregation('admin')]: 'true' }),
    aggregated('view', { [aggregation('edit')]: 'true' }),
    aggregated('edit', { [aggregation('admin')]: 'true' }),
    aggregated('admin', {}),
    binding('cluster-admin', ['system:masters']),
    binding('system:discovery', ['system:authenticated']),
    binding('system:basic-user', ['system:authenticated']),
    binding('system:public-info-viewer', ['system:authenticated', 'system:unauthenticated']),
  ]
}

function aggregation(name: string): string {
  return `rbac.authorization.k8s.io/aggregate-to-${name}`
}

function role(name: string, rules: readonly PolicyRule[], more: Readonly<Record<string, string>> = {}): Role {
  return { apiVersion, kind: 'ClusterRole', metadata: { name, labels: { ...labels, ...more } }, rules }
}

function aggregated(name: string, more: Readonly<Record<string, string>>): Role {
  const clusterRoleSelectors = [{ matchLabels: { [aggregation(name)]: 'true' } }]
  return { ...role(name, [], more), aggregationRule: { clusterRoleSelectors } }
}

function binding(name: string, groups: readonly string[]): RoleBinding {
  const subjects = groups.map((group): RoleSubject & { apiGroup: string } => ({ kind: 'Group', apiGroup, name: group }))
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects,
  }
}
