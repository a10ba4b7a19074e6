import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ConfigMap } from '../api/core.ts'
import { configMaps, nodes } from '../api/resources.ts'
import type { KubeApi } from '../client/kube-api.ts'
import { seededRandom } from '../runtime/random.ts'
import { SharedWatches } from './shared-watches.ts'
import { createWatchCache, type WatchCache, type WatchCacheOptions } from './watch-cache.ts'

let clock: VirtualClock
let server: ApiServer
let api: KubeApi
let opened: string[]
let ended: number
let watches: SharedWatches
let caches: { stop(): Promise<void> }[]

beforeEach(() => {
  clock = new VirtualClock()
  server = new ApiServer({ clock, random: seededRandom(1) })
  server.start()
  api = server.as(clusterAdmin)
  opened = []
  ended = 0
  watches = new SharedWatches()
  caches = []
})

afterEach(async () => {
  const stopped = Promise.all(caches.map((cache) => cache.stop()))
  await clock.advance(60_000)
  await stopped
  server.stop()
})

function countingApi(): KubeApi {
  return {
    ...Object.fromEntries(['get', 'list', 'create'].map((verb) => [verb, api[verb as 'get'].bind(api)])),
    watch(type, query) {
      opened.push([type.plural, query?.namespace, query?.labelSelector].filter(Boolean).join(' '))
      query?.signal?.addEventListener('abort', () => (ended += 1), { once: true })
      return api.watch(type, query)
    },
  } as KubeApi
}

function read<V>(options: Partial<WatchCacheOptions<ConfigMap, V>>): WatchCache<V> {
  const base = { api: countingApi(), type: configMaps, clock, random: seededRandom(2), watches }
  const cache = createWatchCache<ConfigMap, V>({ ...base, ...options })
  caches.push(cache)
  return cache
}

const put = (name: string, text: string) =>
  api.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name },
    data: { text },
  })
const change = (name: string, text: string) =>
  api.patch(configMaps, { namespace: 'default', name }, { type: 'merge', body: { data: { text } } })
const nameOf = ({ metadata }: ConfigMap) => metadata.name
const textOf = ({ data }: ConfigMap) => data?.['text'] ?? ''

describe('readers of the same objects', () => {
  it('share one watch, and each has its projection, its index and its changes alone', async () => {
    await put('a', 'one')
    const changes: string[] = []
    const names = read({ project: nameOf, onChange: ({ type }) => changes.push(`names ${type}`) })
    const texts = read({
      project: textOf,
      indexes: { text: (text) => [text] },
      onChange: ({ type }) => changes.push(`texts ${type}`),
    })
    await clock.advance(1_000)
    const written = await change('a', 'two')
    await Promise.all([names, texts].map((each) => each.whenSeen(written.metadata.resourceVersion)))
    expect([opened, names.list(), texts.list(), texts.byIndex('text', 'two')]).toEqual([
      ['configmaps'],
      ['a'],
      ['two'],
      ['two'],
    ])
    expect(changes).toEqual(['names added', 'texts added', 'texts changed'])
    expect([names.synced, names.ageMs(), texts.ageMs()]).toEqual([true, 0, 0])
  })

  it('of another kind, namespace or selector have a watch of their own: rights and size differ', async () => {
    read({ project: nameOf })
    read({ project: nameOf, namespace: 'default' })
    read({ project: nameOf, labelSelector: 'app=x' })
    caches.push(createWatchCache({ api: countingApi(), type: nodes, clock, random: seededRandom(2), watches }))
    await clock.advance(0)
    expect(opened).toEqual(['configmaps', 'configmaps default', 'configmaps app=x', 'nodes'])
  })

  it('that come when the watch has begun have one of their own, and miss nothing', async () => {
    await put('a', 'one')
    read({ project: nameOf })
    await clock.advance(1_000)
    const late = read({ project: nameOf })
    await clock.advance(1_000)
    expect([opened.length, late.list()]).toEqual([2, ['a']])
  })

  it('do not end it for each other, and the last one ends it', async () => {
    const first = read({ project: nameOf })
    const second = read({ project: nameOf })
    await clock.advance(1_000)
    await first.stop()
    await put('a', 'one')
    await clock.advance(1_000)
    expect([first.list(), second.list(), ended]).toEqual([[], ['a'], 0])
    await second.stop()
    expect(ended).toBe(1)
  })

  it('one that stops before the watch began keeps nobody from it', async () => {
    const first = read({ project: nameOf })
    const second = read({ project: nameOf })
    const stopped = first.stop()
    await put('a', 'one')
    await clock.advance(1_000)
    await stopped
    expect([opened.length, second.list()]).toEqual([1, ['a']])
  })

  const bad: Record<string, 'in the first list' | 'later'> = {
    'an object that one cannot read is in the first list': 'in the first list',
    'an object that one cannot read comes later': 'later',
  }
  it.each(Object.entries(bad))(
    '%s: that one grows old, the others follow at once and stay young',
    async (_name, when) => {
      const errors: string[] = []
      if (when === 'in the first list') await put('bad', 'bad')
      const picky = read({
        project(map) {
          if (textOf(map) === 'bad') throw new Error('cannot be read')
          return textOf(map)
        },
        onError: (error) => errors.push(String(error)),
      })
      const names = read({ project: nameOf })
      await clock.advance(100)
      if (when === 'later') await put('bad', 'bad')
      await clock.advance(100)
      await put('good', 'good')
      await clock.advance(0)
      expect([...names.list()].sort()).toEqual(['bad', 'good'])
      expect([names.ageMs() < 150, errors.length > 0, opened.length > 1]).toEqual([true, true, true])
      await change('bad', 'mended')
      await clock.advance(60_000)
      expect([...picky.list()].sort()).toEqual(['good', 'mended'])
    },
  )
})
