import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { keyOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, leases, namespaces, pods, serviceAccounts } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { ApiServer } from './api-server.ts'
import { clusterAdmin } from './user-info.ts'

async function fixture() {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(1) })
  server.start()
  const api = server.as(clusterAdmin)
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await clock.advance(1000)
  return {
    clock,
    api,
    exists: (type: ResourceType, key: { namespace?: string; name: string }) =>
      api.get(type, key).then(
        () => true,
        (error: unknown) => {
          if (hasReason(error, 'NotFound')) return false
          throw error
        },
      ),
    shop: () => api.get(namespaces, { name: 'shop' }),
    map: (name: string, finalizers: readonly string[] = []) =>
      api.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'shop', name, finalizers },
      }),
  }
}

describe('the lifecycle of namespaces', () => {
  it('gives each namespace a default service account, and gives it again when it was deleted', async () => {
    const { clock, api, exists } = await fixture()
    const account = { namespace: 'shop', name: 'default' }
    expect(await exists(serviceAccounts, account)).toBe(true)
    expect(await exists(serviceAccounts, { ...account, namespace: 'kube-system' })).toBe(true)
    await api.delete(serviceAccounts, account)
    await clock.advance(1000)
    expect(await exists(serviceAccounts, account)).toBe(true)
  })

  it('takes everything of every kind in a deleted namespace with it', async () => {
    const { clock, api, exists, map } = await fixture()
    await map('a')
    await api.create(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'shop', name: 'b' },
    })
    await api.delete(namespaces, { name: 'shop' })
    await clock.advance(10_000)
    expect(await exists(namespaces, { name: 'shop' })).toBe(false)
    expect((await api.list(configMaps, { namespace: 'shop' })).items).toEqual([])
    expect((await api.list(leases, { namespace: 'shop' })).items).toEqual([])
    expect((await api.list(serviceAccounts, { namespace: 'shop' })).items).toEqual([])
  })

  it('leaves other namespaces alone', async () => {
    const { clock, api, exists } = await fixture()
    await api.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'kept' },
    })
    await api.delete(namespaces, { name: 'shop' })
    await clock.advance(10_000)
    expect(await exists(configMaps, { namespace: 'default', name: 'kept' })).toBe(true)
  })

  it('says what holds a namespace, and lets it go when that is released', async () => {
    const { clock, api, exists, map, shop } = await fixture()
    const held = await map('held', ['story.example/held'])
    await api.delete(namespaces, { name: 'shop' })
    await clock.advance(10_000)
    const { status } = await shop()
    expect(status?.phase).toBe('Terminating')
    expect(
      Object.fromEntries(
        (status?.conditions ?? []).map(({ type, status, message }) => [type, `${status}: ${message}`]),
      ),
    ).toEqual({
      NamespaceDeletionDiscoveryFailure: 'False: All resources successfully discovered',
      NamespaceDeletionGroupVersionParsingFailure: 'False: All legacy kube types successfully parsed',
      NamespaceDeletionContentFailure: 'False: All content successfully deleted, may be waiting on finalization',
      NamespaceContentRemaining: 'True: Some resources are remaining: configmaps. has 1 resource instances',
      NamespaceFinalizersRemaining:
        'True: Some content in the namespace has finalizers remaining: story.example/held in 1 resource instances',
    })
    await api.patch(configMaps, keyOf(held), { type: 'merge', body: { metadata: { finalizers: null } } })
    await clock.advance(10_000)
    expect(await exists(namespaces, { name: 'shop' })).toBe(false)
  })

  it('lets pods end before what they may still use', async () => {
    const { clock, api, exists, map } = await fixture()
    await map('used')
    await api.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'shop', name: 'web-0' },
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/app:1' }] },
    })
    await api.delete(namespaces, { name: 'shop' })
    await clock.advance(10_000)
    expect((await api.get(pods, { namespace: 'shop', name: 'web-0' })).metadata.deletionTimestamp).toBeDefined()
    expect(await exists(configMaps, { namespace: 'shop', name: 'used' })).toBe(true)
    await api.delete(pods, { namespace: 'shop', name: 'web-0' }, { gracePeriodSeconds: 0 })
    await clock.advance(10_000)
    expect(await exists(namespaces, { name: 'shop' })).toBe(false)
  })

  it('keeps a namespace that another finalizer holds, but empties it', async () => {
    const { clock, api, exists, map, shop } = await fixture()
    await map('a')
    const body = { metadata: { finalizers: ['story.example/held'] } }
    await api.patch(namespaces, { name: 'shop' }, { type: 'merge', body })
    await api.delete(namespaces, { name: 'shop' })
    await clock.advance(10_000)
    expect((await shop()).spec?.finalizers ?? []).toEqual([])
    expect(await exists(configMaps, { namespace: 'shop', name: 'a' })).toBe(false)
    await api.patch(namespaces, { name: 'shop' }, { type: 'merge', body: { metadata: { finalizers: null } } })
    expect(await exists(namespaces, { name: 'shop' })).toBe(false)
  })
})
