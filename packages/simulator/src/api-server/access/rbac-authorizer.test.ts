import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { clusterAdmin, serviceAccountUser, type UserInfo } from '../user-info.ts'
import type { AccessAttributes, PolicyRule, RoleSubject } from './policy-rule.ts'
import { createRbacAuthorizer, type RoleReader } from './rbac-authorizer.ts'

const ann: UserInfo = { username: 'ann', groups: ['storage', 'system:authenticated'] }
const builder = serviceAccountUser('ci', 'builder')

function clusterRole(name: string, rules: PolicyRule[], more: object = {}): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules,
    ...more,
  } as KubeObject
}

function role(namespace: string, name: string, rules: PolicyRule[]): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { namespace, name },
    rules,
  } as KubeObject
}

function binding(
  metadata: { name: string; namespace?: string },
  roleRef: { kind: string; name: string },
  subjects: RoleSubject[],
): KubeObject {
  const kind = metadata.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata, roleRef, subjects } as KubeObject
}

function reader(objects: KubeObject[]): RoleReader {
  const of = (kind: string, namespace?: string) =>
    objects.filter((each) => each.kind === kind && each.metadata.namespace === namespace)
  return {
    clusterRoles: () => of('ClusterRole'),
    clusterRoleBindings: () => of('ClusterRoleBinding'),
    roles: (namespace) => of('Role', namespace),
    roleBindings: (namespace) => of('RoleBinding', namespace),
  }
}

const annIs = (rules: PolicyRule[]) => [
  clusterRole('r', rules),
  binding({ name: 'b' }, { kind: 'ClusterRole', name: 'r' }, [{ kind: 'User', name: 'ann' }]),
]
const getPods: AccessAttributes = { verb: 'get', group: '', resource: 'pods', namespace: 'shop', name: 'web-0' }
const evict: AccessAttributes = {
  verb: 'create',
  group: '',
  resource: 'pods',
  subresource: 'eviction',
  namespace: 'shop',
}

const scenarios: Record<string, { given: KubeObject[]; user: UserInfo; asks: AccessAttributes; then: boolean }> = {
  'a member of system:masters may do everything, without any binding': {
    given: [],
    user: clusterAdmin,
    asks: { verb: 'delete', group: 'x.example', resource: 'anything' },
    then: true,
  },
  'a user without a binding may do nothing': { given: [], user: ann, asks: getPods, then: false },
  'a cluster role bound to the user holds in every namespace': {
    given: annIs([{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }]),
    user: ann,
    asks: getPods,
    then: true,
  },
  'a rule for another verb does not allow this one': {
    given: annIs([{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }]),
    user: ann,
    asks: getPods,
    then: false,
  },
  'a rule for another API group does not allow this one': {
    given: annIs([{ verbs: ['*'], apiGroups: ['apps'], resources: ['*'] }]),
    user: ann,
    asks: getPods,
    then: false,
  },
  'a rule for pods does not allow to evict them': {
    given: annIs([{ verbs: ['*'], apiGroups: [''], resources: ['pods'] }]),
    user: ann,
    asks: evict,
    then: false,
  },
  'a rule for pods/eviction allows to evict': {
    given: annIs([{ verbs: ['create'], apiGroups: [''], resources: ['pods/eviction'] }]),
    user: ann,
    asks: evict,
    then: true,
  },
  'a rule for */eviction allows to evict': {
    given: annIs([{ verbs: ['create'], apiGroups: [''], resources: ['*/eviction'] }]),
    user: ann,
    asks: evict,
    then: true,
  },
  'a rule for */eviction does not allow the pods themselves': {
    given: annIs([{ verbs: ['*'], apiGroups: [''], resources: ['*/eviction'] }]),
    user: ann,
    asks: getPods,
    then: false,
  },
  'a rule for all resources covers their subresources': {
    given: annIs([{ verbs: ['create'], apiGroups: ['*'], resources: ['*'] }]),
    user: ann,
    asks: evict,
    then: true,
  },
  'a rule that names objects allows these': {
    given: annIs([{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['web-0'] }]),
    user: ann,
    asks: getPods,
    then: true,
  },
  'a rule that names objects does not allow a list of all': {
    given: annIs([{ verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['web-0'] }]),
    user: ann,
    asks: { verb: 'list', group: '', resource: 'pods', namespace: 'shop' },
    then: false,
  },
  'a path with a star covers what lies under it': {
    given: annIs([{ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }]),
    user: ann,
    asks: { verb: 'get', group: '', resource: '', path: '/healthz/etcd' },
    then: true,
  },
  'a path without a star covers only itself': {
    given: annIs([{ verbs: ['get'], nonResourceURLs: ['/healthz'] }]),
    user: ann,
    asks: { verb: 'get', group: '', resource: '', path: '/healthz/etcd' },
    then: false,
  },
  'a rule for all resources allows no path': {
    given: annIs([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
    user: ann,
    asks: { verb: 'get', group: '', resource: '', path: '/metrics' },
    then: false,
  },
  'a role holds in its own namespace': {
    given: [
      role('shop', 'r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]),
      binding({ namespace: 'shop', name: 'b' }, { kind: 'Role', name: 'r' }, [{ kind: 'Group', name: 'storage' }]),
    ],
    user: ann,
    asks: getPods,
    then: true,
  },
  'a role of one namespace means nothing in another': {
    given: [
      role('shop', 'r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]),
      binding({ namespace: 'shop', name: 'b' }, { kind: 'Role', name: 'r' }, [{ kind: 'Group', name: 'storage' }]),
    ],
    user: ann,
    asks: { ...getPods, namespace: 'bank' },
    then: false,
  },
  'a cluster role bound in a namespace allows nothing cluster-wide': {
    given: [
      clusterRole('r', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
      binding({ namespace: 'shop', name: 'b' }, { kind: 'ClusterRole', name: 'r' }, [{ kind: 'User', name: 'ann' }]),
    ],
    user: ann,
    asks: { verb: 'get', group: '', resource: 'nodes', name: 'node-1' },
    then: false,
  },
  'a service account is found by its namespace and name': {
    given: [
      clusterRole('r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]),
      binding({ name: 'b' }, { kind: 'ClusterRole', name: 'r' }, [
        { kind: 'ServiceAccount', namespace: 'ci', name: 'builder' },
      ]),
    ],
    user: builder,
    asks: getPods,
    then: true,
  },
  'a service account without a namespace is one of the binding’s own': {
    given: [
      role('shop', 'r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]),
      binding({ namespace: 'shop', name: 'b' }, { kind: 'Role', name: 'r' }, [
        { kind: 'ServiceAccount', name: 'builder' },
      ]),
    ],
    user: builder,
    asks: getPods,
    then: false,
  },
  'a binding to a role that is gone allows nothing': {
    given: [binding({ name: 'b' }, { kind: 'ClusterRole', name: 'gone' }, [{ kind: 'User', name: 'ann' }])],
    user: ann,
    asks: getPods,
    then: false,
  },
  'an aggregated role has the rules of the roles its labels choose': {
    given: [
      clusterRole('all', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] } }),
      clusterRole('some', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }], {
        metadata: { name: 'some', labels: { part: 'yes' } },
      }),
      binding({ name: 'b' }, { kind: 'ClusterRole', name: 'all' }, [{ kind: 'User', name: 'ann' }]),
    ],
    user: ann,
    asks: getPods,
    then: true,
  },
  'roles that aggregate each other come to an end': {
    given: [
      clusterRole('a', [], {
        metadata: { name: 'a', labels: { of: 'b' } },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { of: 'a' } }] },
      }),
      clusterRole('b', [], {
        metadata: { name: 'b', labels: { of: 'a' } },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { of: 'b' } }] },
      }),
      binding({ name: 'b' }, { kind: 'ClusterRole', name: 'a' }, [{ kind: 'User', name: 'ann' }]),
    ],
    user: ann,
    asks: getPods,
    then: false,
  },
}

describe('the RBAC authorizer', () => {
  for (const [scenario, { given, user, asks, then }] of Object.entries(scenarios)) {
    it(scenario, () => expect(createRbacAuthorizer(reader(given)).isAllowed(user, asks)).toBe(then))
  }

  it('says which binding allowed it, in the words of the real server', () => {
    const objects = annIs([{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }])
    expect(createRbacAuthorizer(reader(objects)).decide(ann, getPods)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "ann"',
    })
  })

  it('lists cluster-wide rules before those of the namespace', () => {
    const everywhere: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
    const here: PolicyRule = { verbs: ['delete'], apiGroups: [''], resources: ['pods'] }
    const objects = [
      ...annIs([everywhere]),
      role('shop', 'local', [here]),
      binding({ namespace: 'shop', name: 'local' }, { kind: 'Role', name: 'local' }, [{ kind: 'User', name: 'ann' }]),
    ]
    const authorizer = createRbacAuthorizer(reader(objects))
    expect(authorizer.rulesFor(ann, 'shop')).toEqual([everywhere, here])
    expect(authorizer.rulesFor(ann, 'bank')).toEqual([everywhere])
  })
})
