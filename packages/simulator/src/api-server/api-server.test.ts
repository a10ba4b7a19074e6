import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, namespaces, nodes, pods, serviceAccounts } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type WatchEvent } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { ApiServer } from './api-server.ts'
import { configMap, type Fixture, fixture, inDefault, pod, refusalOf } from './registry/testing/fixture.ts'
import { clusterAdmin, serviceAccountUser, type UserInfo } from './user-info.ts'

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const roles: ResourceType = { ...rbac, plural: 'roles', kind: 'Role', namespaced: true }
const roleBindings: ResourceType = { ...rbac, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true }

const selfReviews: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
}

const reader = serviceAccountUser('default', 'reader')

async function letReaderRead({ api }: Fixture): Promise<void> {
  await api.create(roles, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: inDefault('reads-pods'),
    rules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'namespaces'] }],
  } as KubeObject)
  await api.create(roleBindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: inDefault('reads-pods'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reads-pods' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
  } as KubeObject)
}

describe('a new server', () => {
  it('has the namespaces that every cluster has, active and labelled with their names', async () => {
    const { api } = fixture()
    const { items } = await api.list(namespaces)
    expect(items.map(({ metadata, spec, status }) => [metadata.name, metadata.labels, spec, status])).toEqual(
      ['default', 'kube-node-lease', 'kube-public', 'kube-system'].map((name) => [
        name,
        { 'kubernetes.io/metadata.name': name },
        { finalizers: ['kubernetes'] },
        { phase: 'Active' },
      ]),
    )
  })

  it('once started gives each namespace its default account, and stops without leaving anything to wait for', async () => {
    const { api, server, clock } = fixture()
    server.start()
    await clock.advance(5_000)
    const { items } = await api.list(serviceAccounts)
    expect(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'default/default',
      'kube-node-lease/default',
      'kube-public/default',
      'kube-system/default',
    ])
    server.stop()
    await clock.advance(0)
    expect(clock.nextAt()).toBeUndefined()
  })
})

describe('who may do what', () => {
  it('nothing is allowed that no role allows, in the words of the real server', async () => {
    const { server } = fixture()
    const api = server.as(reader)
    const messages = await Promise.all(
      [
        api.list(pods),
        api.list(pods, { namespace: 'default' }),
        api.create(configMaps, configMap('a')),
        api.delete(nodes, { name: 'n1' }),
        api.createSubresource(pods, inDefault('a'), 'eviction', {}),
        api.get(namespaces, { name: 'default' }),
      ].map(async (call) => (await refusalOf(call)).message),
    )
    const user = 'User "system:serviceaccount:default:reader" cannot'
    expect(messages).toEqual([
      `pods is forbidden: ${user} list resource "pods" in API group "" at the cluster scope`,
      `pods is forbidden: ${user} list resource "pods" in API group "" in the namespace "default"`,
      `configmaps is forbidden: ${user} create resource "configmaps" in API group "" in the namespace "default"`,
      `nodes "n1" is forbidden: ${user} delete resource "nodes" in API group "" at the cluster scope`,
      `pods "a" is forbidden: ${user} create resource "pods/eviction" in API group "" in the namespace "default"`,
      `namespaces "default" is forbidden: ${user} get resource "namespaces" in API group "" in the namespace "default"`,
    ])
  })

  it('a role allows what it says where it says, from the moment it is bound', async () => {
    const made = fixture()
    const api = made.server.as(reader)
    await letReaderRead(made)
    expect((await api.list(pods, { namespace: 'default' })).items).toEqual([])
    expect((await api.get(namespaces, { name: 'default' })).metadata.name).toBe('default')
    expect((await refusalOf(api.list(pods))).code).toBe(403)
    expect((await refusalOf(api.create(pods, pod('a')))).code).toBe(403)
  })

  it('a watch that is not allowed is refused when it is read', async () => {
    const { server } = fixture()
    const first = server.as(reader).watch(pods)[Symbol.asyncIterator]().next()
    expect((await refusalOf(first)).code).toBe(403)
  })

  it('everybody may ask what they may do; the answer is not stored', async () => {
    const made = fixture()
    made.server.start()
    await letReaderRead(made)
    const { version } = made.server
    const may = async (verb: string, user: UserInfo) => {
      const question = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: { resourceAttributes: { verb, resource: 'pods', namespace: 'default' } },
      } as unknown as KubeObject
      const answer = await made.server.as(user).create(selfReviews, question)
      return (answer as unknown as { status: { allowed: boolean } }).status.allowed
    }
    expect([await may('list', reader), await may('delete', reader)]).toEqual([true, false])
    expect(await may('delete', clusterAdmin)).toBe(true)
    expect(made.server.version).toBe(version)
    expect((await refusalOf(made.api.list(selfReviews))).code).toBe(405)
    made.server.stop()
  })
})

describe('a webhook', () => {
  const configurations: ResourceType = {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    namespaced: false,
  }
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'guard' },
    webhooks: [
      {
        name: 'guard.example.com',
        clientConfig: { url: 'https://guard.example.com/' },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['UPDATE', 'DELETE'],
            resources: ['configmaps'],
            scope: '*',
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Fail',
      },
    ],
  } as KubeObject

  function answer(body: string, allowed: boolean) {
    const { uid } = (JSON.parse(body) as { request: { uid: string } }).request
    const response = { uid, allowed, ...(allowed ? {} : { status: { code: 403, message: 'not now' } }) }
    const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }
    return { status: 200, body: JSON.stringify(review) }
  }

  it('that refuses leaves everything as it was', async () => {
    const { api, server } = fixture({ callWebhook: async ({ body }) => answer(body, false) })
    const made = await api.create(configMaps, configMap('a'))
    await api.create(configurations, configuration)
    const { version } = server
    expect(await refusalOf(api.delete(configMaps, inDefault('a')))).toMatchObject({
      code: 403,
      message: 'admission webhook "guard.example.com" denied the request: not now',
    })
    expect((await refusalOf(api.update(configMaps, { ...made, data: { x: '1' } }))).code).toBe(403)
    expect(server.version).toBe(version)
  })

  it('takes its time: a patch is made again of what another wrote meanwhile, an update that names its version is refused', async () => {
    let isFirst = true
    const { api, server } = fixture({
      callWebhook: async ({ body }) => {
        if (isFirst) {
          isFirst = false
          await meanwhile()
        }
        return answer(body, true)
      },
    })
    await api.create(configMaps, configMap('a', { count: '0' }))
    await api.create(configurations, configuration)
    const meanwhile = () => {
      const body = { data: { other: String(server.version) } }
      return api.patch(configMaps, inDefault('a'), { type: 'merge', body })
    }
    const patched = await api.patch(configMaps, inDefault('a'), { type: 'merge', body: { data: { mine: '1' } } })
    expect(patched.data).toEqual({ count: '0', other: '1006', mine: '1' })
    expect(server.version).toBe(1008)
    isFirst = true
    const late = api.update(configMaps, { ...patched, data: { replaced: 'yes' } })
    expect((await refusalOf(late)).code).toBe(409)
    expect((await api.get(configMaps, inDefault('a'))).data).toEqual({ count: '0', other: '1008', mine: '1' })
  })
})

describe('subresources that are posted to', () => {
  it('a pod without a budget is evicted: marked, and given its grace period', async () => {
    const { api } = fixture()
    await api.create(pods, pod('a', { nodeName: 'n1' }))
    await evictPod(api, inDefault('a'))
    const evicted = await api.get(pods, inDefault('a'))
    expect(evicted.metadata.deletionGracePeriodSeconds).toBe(30)
  })

  it('an account is given a token with its end', async () => {
    const { api } = fixture()
    await api.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inDefault('robot') })
    const answer = await api.createSubresource(serviceAccounts, inDefault('robot'), 'token', {
      spec: { expirationSeconds: 600 },
    })
    expect(answer).toMatchObject({
      kind: 'TokenRequest',
      status: { token: expect.any(String), expirationTimestamp: '2026-01-01T00:10:00Z' },
    })
    expect((await refusalOf(api.createSubresource(serviceAccounts, inDefault('nobody'), 'token', {}))).code).toBe(404)
  })

  it('a pod is bound through the old collection too', async () => {
    const { api } = fixture()
    await api.create(pods, pod('a'))
    const bindings: ResourceType = { ...pods, plural: 'bindings', kind: 'Binding' }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: inDefault('a'), target: { name: 'n1' } }
    await api.create(bindings, binding as KubeObject)
    expect((await api.get(pods, inDefault('a'))).spec.nodeName).toBe('n1')
  })

  it('a subresource that the kind does not have is not found', async () => {
    const { api } = fixture()
    await api.create(configMaps, configMap('a'))
    expect((await refusalOf(api.createSubresource(configMaps, inDefault('a'), 'eviction', {}))).code).toBe(404)
    expect((await refusalOf(api.get(configMaps, inDefault('a'), { subresource: 'status' }))).code).toBe(404)
  })
})

describe('the same seed and the same clock', () => {
  async function trace(seed: number): Promise<string> {
    const clock = new VirtualClock()
    const server = new ApiServer({ clock, random: seededRandom(seed) })
    server.start()
    const api = server.as(clusterAdmin)
    const seen: WatchEvent[] = []
    for (const type of [pods, namespaces, serviceAccounts]) {
      void (async () => {
        for await (const event of api.watch(type, { allowBookmarks: true })) seen.push(event)
      })()
    }
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    for (let count = 0; count < 5; count += 1) {
      const generated = { ...pod('', {}, { namespace: 'shop' }), metadata: { generateName: 'p-', namespace: 'shop' } }
      await api.create(pods, generated as unknown as ReturnType<typeof pod>)
      await clock.advance(30_000)
    }
    await api.delete(namespaces, { name: 'shop' })
    await clock.advance(120_000)
    server.stop()
    return JSON.stringify([seen, await api.list(namespaces)] as unknown as JsonObject)
  }

  it('give the same events, byte for byte', async () => {
    const [first, second, other] = [await trace(5), await trace(5), await trace(6)]
    expect(first).toBe(second)
    expect(first).not.toBe(other)
    expect(first).not.toContain('"name":"shop","labels"')
  })
})
