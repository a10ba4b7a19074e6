import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'

export interface TenantRule {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
}

/** The API as somebody may use it who has these rights in one namespace, and no other anywhere. */
export async function openTenant(server: ApiServer, namespace: string, rules: readonly TenantRule[]): Promise<KubeApi> {
  const admin = server.as(clusterAdmin)
  const create = async (object: KubeObject) => {
    const type = typeOfObject(server.catalogue, object)
    if (type === undefined) throw new Error(`the embedded server does not serve ${object.kind}`)
    await admin.create(type, object)
  }
  try {
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
  }
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: 'tenant', namespace }
  await create({
    apiVersion,
    kind: 'Role',
    metadata,
    rules: rules.map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs })),
  } as unknown as KubeObject)
  await create({
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'tenant' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
  } as unknown as KubeObject)
  return server.as({ username: 'tenant', groups: ['system:authenticated'] })
}
