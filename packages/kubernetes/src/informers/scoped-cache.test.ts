import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import type { ConfigMap } from '../api/core.ts'
import { configMaps, namespaces } from '../api/resources.ts'
import type { KubeApi } from '../client/kube-api.ts'
import { seededRandom } from '../runtime/random.ts'
import { createScopedCache, type ScopedCache } from './scoped-cache.ts'
import { createWatchCache } from './watch-cache.ts'

const caches: { stop(): Promise<void> }[] = []
let clock: VirtualClock
let api: KubeApi

afterEach(async () => {
  const stopped = Promise.all(caches.splice(0).map((cache) => cache.stop()))
  await clock.advance(60_000)
  await stopped
})

async function openCluster(): Promise<void> {
  clock = new VirtualClock()
  api = new ApiServer({ clock, random: seededRandom(1) }).as(clusterAdmin)
  for (const name of ['a', 'b', 'c']) {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
}

const put = (namespace: string, name: string, value = '1') =>
  api.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name, labels: { app: 'x' } },
    data: { value },
  })

const indexes = { namespace: ({ metadata }: ConfigMap) => [metadata.namespace ?? ''], all: () => ['all'] }
const unread: string[] = []

function open(names: readonly string[] | undefined, through: KubeApi = api): ScopedCache<ConfigMap> {
  unread.length = 0
  const cache = createScopedCache<ConfigMap>({
    api: through,
    type: configMaps,
    clock,
    random: seededRandom(2),
    namespaces: names,
    labelSelector: 'app=x',
    indexes,
    onUnread: (namespace) => unread.push(namespace),
  })
  caches.push(cache)
  return cache
}

/** As for somebody without a right in this namespace, until `give` is called. */
function withoutRightIn(namespace: string): { readonly api: KubeApi; give(): void } {
  let isGiven = false
  const check = (query: { readonly namespace?: string } | undefined) => {
    if (!isGiven && query?.namespace === namespace) {
      throw new ApiError('Forbidden', `cannot list resource "configmaps" in the namespace "${namespace}"`)
    }
  }
  const through: KubeApi = Object.create(api, {
    list: {
      value: async (type: never, query: never) => {
        check(query)
        return api.list(type, query)
      },
    },
    watch: {
      value: (type: never, query: never) => {
        check(query)
        return api.watch(type, query)
      },
    },
  })
  return {
    api: through,
    give() {
      isGiven = true
    },
  }
}

const names = (view: ScopedCache<ConfigMap>) => [...view.list()].map(({ metadata }) => metadata.name).sort()

describe('a view of several namespaces', () => {
  it('shows and tells what one watch of everything would of these, and nothing of others', async () => {
    await openCluster()
    await put('a', 'one')
    await put('c', 'foreign')
    const view = open(['a', 'b', 'a'])
    const told: string[] = []
    view.subscribe(({ type, key }) => told.push(`${type} ${key}`))
    await clock.advance(2_000)
    expect(view.synced).toBe(true)
    await view.whenSynced()
    const two = await put('b', 'two')
    await view.whenSeen(two.metadata.resourceVersion ?? '', undefined, 'b')
    await api.delete(configMaps, { namespace: 'a', name: 'one' })
    await put('c', 'more')
    await clock.advance(1_000)
    expect(told).toEqual(['added a/one', 'added b/two', 'removed a/one'])
    expect(names(view)).toEqual(['two'])
    expect(view.get({ namespace: 'b', name: 'two' })?.data).toEqual({ value: '1' })
    expect(() => view.get({ namespace: 'c', name: 'more' })).toThrow('are not read: it is not named')
    expect(view.byIndex('namespace', 'b')).toHaveLength(1)
    expect(() => view.byIndex('namespace', 'c')).toThrow('are not read: it is not named')
    expect(view.byIndex('all', 'all')).toHaveLength(1)
    expect(view.ageMs()).toBeLessThan(60_000)
  })

  it('is one watch of everything where no namespaces are named, and empty at once where there are none', async () => {
    await openCluster()
    await put('c', 'any')
    const all = open(undefined)
    const none = open([])
    const whole = createWatchCache<ConfigMap>({ api, type: configMaps, clock, random: seededRandom(3) })
    caches.push(whole)
    expect(none.synced).toBe(true)
    await clock.advance(2_000)
    expect(names(all)).toEqual(['any'])
    expect(names(none)).toEqual([])
    expect(none.ageMs()).toBe(0)
  })

  it('of which one may not be read: the others are read, and whoever asks for that one is told why instead of "nothing is there"', async () => {
    await openCluster()
    await put('a', 'one')
    await put('b', 'hidden')
    const limited = withoutRightIn('b')
    const view = open(['a', 'b'], limited.api)
    await clock.advance(2_000)
    await view.whenSynced()
    expect({ synced: view.synced, names: names(view), unread }).toEqual({ synced: true, names: ['one'], unread: ['b'] })
    expect(() => view.byIndex('namespace', 'b')).toThrow('cannot list resource "configmaps" in the namespace "b"')
    expect(() => view.get({ namespace: 'b', name: 'hidden' })).toThrow('cannot list')
    limited.give()
    await clock.advance(120_000)
    expect(names(view)).toEqual(['hidden', 'one'])
    expect(view.byIndex('namespace', 'b')).toHaveLength(1)
    expect(unread).toEqual(['b'])
  })
})
