import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import type { UserInfo } from '../user-info.ts'
import { defaultRoles } from './default-roles.ts'
import type { AccessAttributes } from './policy-rule.ts'
import { createRbacAuthorizer } from './rbac-authorizer.ts'

const anyone: UserInfo = { username: 'ann', groups: ['system:authenticated'] }
const stranger: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

function authorizer(role?: string) {
  const local = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { namespace: 'shop', name: 'ann' },
    roleRef: { kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', name: 'ann' }],
  } as KubeObject
  const of = (kind: string) => defaultRoles().filter((object) => object.kind === kind)
  return createRbacAuthorizer({
    clusterRoles: () => of('ClusterRole'),
    clusterRoleBindings: () => of('ClusterRoleBinding'),
    roles: () => [],
    roleBindings: (namespace) => (namespace === 'shop' && role !== undefined ? [local] : []),
  })
}

const path = (text: string): AccessAttributes => ({ verb: 'get', group: '', resource: '', path: text })
const evict = { verb: 'create', group: '', resource: 'pods', subresource: 'eviction', namespace: 'shop' }
const readPods = { verb: 'list', group: '', resource: 'pods', namespace: 'shop' }
const readSecrets = { verb: 'get', group: '', resource: 'secrets', namespace: 'shop' }
const grant = { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'rolebindings', namespace: 'shop' }
const askSelf = { verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' }

const scenarios: Record<
  string,
  { role?: string; user?: UserInfo; may: AccessAttributes[]; mayNot: AccessAttributes[] }
> = {
  'whoever is known may discover the API and ask about themselves, and no more': {
    may: [path('/apis/apps/v1'), path('/version'), askSelf],
    mayNot: [path('/metrics'), readPods, evict, { verb: 'list', group: '', resource: 'nodes' }],
  },
  'whoever is not known may ask for health and version, and no more': {
    user: stranger,
    may: [path('/readyz'), path('/version')],
    mayNot: [path('/apis'), askSelf, readPods],
  },
  'a viewer reads what runs, but no secrets, and changes nothing': {
    role: 'view',
    may: [readPods],
    mayNot: [readSecrets, evict, grant, { ...readPods, namespace: 'bank' }],
  },
  'an editor reads, changes and evicts, but grants nothing': {
    role: 'edit',
    may: [readPods, readSecrets, evict, { ...readPods, verb: 'delete' }],
    mayNot: [grant, { verb: 'delete', group: '', resource: 'nodes' }],
  },
  'an administrator of a namespace grants rights in it': {
    role: 'admin',
    may: [readPods, evict, grant],
    mayNot: [{ ...grant, namespace: 'bank' }],
  },
  'a cluster administrator bound in a namespace may do everything there': {
    role: 'cluster-admin',
    may: [readPods, readSecrets, evict, grant],
    mayNot: [{ verb: 'get', group: '', resource: 'nodes' }, path('/metrics')],
  },
}

describe('the roles every cluster starts with', () => {
  for (const [scenario, { role, user = anyone, may, mayNot }] of Object.entries(scenarios)) {
    it(scenario, () => {
      const rbac = authorizer(role)
      expect(may.filter((attributes) => !rbac.isAllowed(user, attributes))).toEqual([])
      expect(mayNot.filter((attributes) => rbac.isAllowed(user, attributes))).toEqual([])
    })
  }
})
