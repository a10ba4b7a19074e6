import type { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import { ApiServer } from '../api-server.ts'
import { clusterAdmin } from '../user-info.ts'

const group = 'rbac.authorization.k8s.io'
const type = (kind: string, plural: string): ResourceType => ({ group, version: 'v1', kind, plural, namespaced: true })
const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop', uid: 'u1' }
const blocking: OwnerReference = { ...owner, blockOwnerDeletion: true }
const map = (ownerReferences: readonly OwnerReference[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'one', ownerReferences },
})

interface Case {
  readonly may?: readonly string[]
  readonly before?: readonly OwnerReference[]
  readonly owners: readonly OwnerReference[]
  readonly then: string
}

const noFinalizers =
  `configmaps "one" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set ` +
  'finalizers on: , <nil>'

const cases: Readonly<Record<string, Case>> = {
  'a new object may have any owner': { owners: [owner], then: 'written' },
  'a new object that holds up its owner needs a right on the finalizers of the owner': {
    owners: [blocking],
    then: noFinalizers,
  },
  'with that right it is written': { may: ['deployments/finalizers'], owners: [blocking], then: 'written' },
  'an owner of a kind that nobody serves cannot be held up': {
    may: ['deployments/finalizers'],
    owners: [{ ...blocking, kind: 'Ship' }],
    then:
      'configmaps "one" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for ' +
      'APIVersion apps/v1 Kind Ship: no matches for kind "Ship" in version "apps/v1"',
  },
  'who changes owners must be allowed to delete the object': {
    before: [],
    owners: [owner],
    then: `configmaps "one" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`,
  },
  'what held up its owner before may go on to': {
    may: ['configmaps:delete'],
    before: [blocking],
    owners: [{ ...blocking, controller: true }],
    then: 'written',
  },
  'who leaves the owners as they are needs no more than before': {
    before: [blocking],
    owners: [blocking],
    then: 'written',
  },
}

describe('on a server that enforces the rights on owners', () => {
  it.each(Object.entries(cases))('%s', async (_, { may = [], before, owners, then }) => {
    const server = new ApiServer({
      clock: new VirtualClock(),
      random: seededRandom(1),
      enforcesOwnerPermissions: true,
    })
    const admin = server.as(clusterAdmin)
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'update'] },
      ...may.map((right) => {
        const [resource = '', verb = 'update'] = right.split(':')
        return { apiGroups: ['', deployments.group], resources: [resource], verbs: [verb] }
      }),
    ]
    const metadata = { namespace: 'default', name: 'ann' }
    await admin.create(type('Role', 'roles'), {
      apiVersion: `${group}/v1`,
      kind: 'Role',
      metadata,
      rules,
    } as KubeObject)
    await admin.create(type('RoleBinding', 'rolebindings'), {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: group, kind: 'Role', name: 'ann' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'ann' }],
    } as KubeObject)
    const ann = server.as({ username: 'ann', groups: [] })
    const write = async () => {
      if (before === undefined) return ann.create(configMaps as ResourceType, map(owners))
      const { metadata: stored } = await admin.create(configMaps as ResourceType, map(before))
      return ann.update(configMaps as ResourceType, {
        ...map(owners),
        metadata: { ...stored, labels: { seen: 'yes' }, ownerReferences: owners },
      })
    }
    expect(
      await write().then(
        () => 'written',
        ({ message }: ApiError) => message,
      ),
    ).toBe(then)
  })
})
