import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import { ApiServer } from '../api-server.ts'
import { clusterAdmin, type UserInfo } from '../user-info.ts'

const ann: UserInfo = { username: 'ann', groups: ['system:authenticated'] }
const group = 'rbac.authorization.k8s.io'
const roleBindings: ResourceType = {
  group,
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}
const clusterRoles: ResourceType = {
  group,
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
}
const accessReviews: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
}

function fixture() {
  const server = new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) })
  server.start()
  const admin = server.as(clusterAdmin)
  return {
    ann: server.as(ann),
    admin,
    stop: () => server.stop(),
    bind: (role: string) =>
      admin.create(roleBindings, {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata: { namespace: 'default', name: 'ann' },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'User', apiGroup: group, name: 'ann' }],
      } as KubeObject),
  }
}

describe('a user of the embedded server', () => {
  it('is refused with 403 in the words of the real server, until a binding allows it', async () => {
    const { ann, bind, stop } = fixture()
    await expect(ann.list(pods, { namespace: 'default' })).rejects.toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: 'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "default"',
    })
    await bind('view')
    expect((await ann.list(pods, { namespace: 'default' })).items).toEqual([])
    await expect(ann.list(pods)).rejects.toMatchObject({
      code: 403,
      message: 'pods is forbidden: User "ann" cannot list resource "pods" in API group "" at the cluster scope',
    })
    stop()
  })

  it('who may list one object by its name may select it by that name, and nothing else', async () => {
    const { ann, admin, bind, stop } = fixture()
    await admin.create(clusterRoles, {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'reads-one' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'], verbs: ['list'] }],
    } as KubeObject)
    await bind('reads-one')
    for (const name of ['one', 'two'])
      await admin.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name } })
    const select = async (fieldSelector?: string) =>
      (await ann.list(configMaps, { namespace: 'default', ...(fieldSelector && { fieldSelector }) })).items.map(
        ({ metadata }) => metadata.name,
      )
    expect(await select('metadata.name=one')).toEqual(['one'])
    for (const selector of ['metadata.name=two', 'metadata.name!=two', 'metadata.namespace=default', undefined])
      await expect(select(selector)).rejects.toMatchObject({ code: 403 })
    stop()
  })

  it('who may read pods may not evict them: 403 and the pod stays', async () => {
    const { ann, admin, bind, stop } = fixture()
    await bind('view')
    const key = { namespace: 'default', name: 'web-0' }
    const pod = await admin.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: key,
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/app:1' }] },
    })
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0' } }
    await expect(ann.createSubresource(pods, key, 'eviction', eviction)).rejects.toMatchObject({
      code: 403,
      message:
        'pods "web-0" is forbidden: User "ann" cannot create resource "pods/eviction" in API group "" in the namespace "default"',
    })
    expect(await admin.get(pods, key)).toEqual(pod)
    stop()
  })

  it('who may evict needs no right to delete, as the eviction deletes on the server’s behalf', async () => {
    const { ann, admin, stop } = fixture()
    await admin.create({ group, version: 'v1', plural: 'roles', kind: 'Role', namespaced: true }, {
      apiVersion: `${group}/v1`,
      kind: 'Role',
      metadata: { namespace: 'default', name: 'evictor' },
      rules: [{ verbs: ['create'], apiGroups: [''], resources: ['pods/eviction'] }],
    } as KubeObject)
    await admin.create(roleBindings, {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata: { namespace: 'default', name: 'ann' },
      roleRef: { apiGroup: group, kind: 'Role', name: 'evictor' },
      subjects: [{ kind: 'User', apiGroup: group, name: 'ann' }],
    } as KubeObject)
    const key = { namespace: 'default', name: 'web-0' }
    await admin.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: key,
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/app:1' }] },
    })
    await expect(ann.delete(pods, key)).rejects.toMatchObject({ code: 403 })
    await ann.createSubresource(pods, key, 'eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'web-0' },
    })
    expect((await admin.get(pods, key)).metadata.deletionTimestamp).toBeDefined()
    stop()
  })

  it('may ask what they may do', async () => {
    const { ann, bind, stop } = fixture()
    await bind('edit')
    const ask = async (resource: string, namespace: string) => {
      const spec = { resourceAttributes: { verb: 'create', resource, namespace } }
      const question = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', metadata: {}, spec }
      const answer = (await ann.create(accessReviews, question as unknown as KubeObject)) as KubeObject & {
        status: object
      }
      return answer.status
    }
    expect(await ask(configMaps.plural, 'default')).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "ann/default" of ClusterRole "edit" to User "ann"',
    })
    expect(await ask(configMaps.plural, 'kube-system')).toEqual({ allowed: false })
    stop()
  })
})
