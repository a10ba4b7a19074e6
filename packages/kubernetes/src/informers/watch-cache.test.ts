import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import type { ConfigMap } from '../api/core.ts'
import { configMaps } from '../api/resources.ts'
import { type Fault, HostileServer } from '../client/testing/hostile-server.ts'
import { CofferdamError } from '../errors.ts'
import { seededRandom } from '../runtime/random.ts'
import { fixture, settled, withoutSignal } from './testing/cache-fixture.ts'
import { createWatchCache } from './watch-cache.ts'
import type { ViewChange } from './watch-view.ts'

describe('following a collection', () => {
  it('the first list is told as additions, and only when it is whole', async () => {
    const { clock, server, cache, changes } = fixture((server) => {
      server.put('a', '1')
      server.put('b', '1')
    })
    expect([cache.synced, cache.size, cache.ageMs()]).toEqual([false, 0, Number.POSITIVE_INFINITY])
    await settled(clock)
    expect(changes).toEqual(['added ns/a 1', 'added ns/b 1'])
    expect(cache.view()).toMatchObject({ synced: true, resourceVersion: server.version })
    expect([cache.size, cache.ageMs()]).toEqual([2, 0])
    await cache.stop()
  })

  it('changes, additions and removals are told with what was there before', async () => {
    const seen: ViewChange<ConfigMap>[] = []
    const { clock, server, cache } = fixture((server) => server.put('a', '1'))
    await settled(clock)
    cache.subscribe((change) => seen.push(change))
    const before = cache.get('ns/a')
    const after = server.put('a', '2')
    const other = server.put('b', '1')
    server.remove('a')
    await settled(clock)
    expect(seen).toEqual([
      { type: 'changed', key: 'ns/a', value: after, previous: before },
      { type: 'added', key: 'ns/b', value: other },
      { type: 'removed', key: 'ns/a', previous: after },
    ])
    expect(cache.get({ namespace: 'ns', name: 'b' })).toBe(other)
    await cache.stop()
  })

  it('lists in pages when told to, and goes on from the version of the first page', async () => {
    const { clock, server, cache, texts } = fixture(
      (server) => {
        for (let index = 0; index < 5; index += 1) server.put(`m${index}`, 'x')
      },
      { listBy: 'pages', pageSize: 2, labelSelector: 'l=1', fieldSelector: 'f=1', namespace: 'ns' },
    )
    await settled(clock)
    expect(Object.keys(texts())).toEqual(['m0', 'm1', 'm2', 'm3', 'm4'])
    const selection = { namespace: 'ns', labelSelector: 'l=1', fieldSelector: 'f=1' }
    expect(server.lists.map(withoutSignal)).toEqual([
      { ...selection, limit: 2 },
      { ...selection, limit: 2, continueToken: '6:2' },
      { ...selection, limit: 2, continueToken: '6:4' },
    ])
    expect(server.watches.map(withoutSignal)).toEqual([{ ...selection, allowBookmarks: true, resourceVersion: '6' }])
    await cache.stop()
  })

  it('asks for the present state as a stream where the server can, and needs no list then', async () => {
    const { clock, server, cache } = fixture((server) => server.put('a', '1'))
    await settled(clock)
    expect(server.lists).toEqual([])
    expect(server.watches.map(withoutSignal)).toEqual([
      { allowBookmarks: true, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' },
    ])
    await cache.stop()
  })

  for (const streaming of ['refused', 'ignored'] as const) {
    it(`falls back on pages when the request to stream is ${streaming}`, async () => {
      const { clock, server, cache, errors, texts } = fixture((server) => {
        server.streaming = streaming
        server.put('a', '1')
      })
      await clock.advance(15_000)
      server.put('b', '1')
      await settled(clock)
      expect(texts()).toEqual({ a: '1', b: '1' })
      expect([server.lists.length, errors]).toEqual([1, []])
      await cache.stop()
    })
  }

  it('keeps only what is projected, and tells nobody of changes outside of it', async () => {
    const clock = new VirtualClock()
    const server = new HostileServer()
    server.put('a', 'first line')
    const changes: unknown[] = []
    const cache = createWatchCache({
      api: server.api,
      type: configMaps,
      clock,
      random: seededRandom(1),
      project: (map) => ({ name: map.metadata.name, word: map.data?.['text']?.split(' ')[0] ?? '' }),
      indexes: { word: ({ word }) => [word] },
      onChange: (change) => changes.push(change),
    })
    await settled(clock)
    const held = cache.get('ns/a')
    server.put('a', 'first of all')
    await settled(clock)
    expect(cache.get('ns/a')).toBe(held)
    expect(cache.byIndex('word', 'first')).toEqual([{ name: 'a', word: 'first' }])
    expect(cache.hasSeen(server.version)).toBe(true)
    server.put('a', 'second')
    await settled(clock)
    expect([cache.byIndex('word', 'first'), cache.byIndex('word', 'second')]).toEqual([
      [],
      [{ name: 'a', word: 'second' }],
    ])
    server.remove('a')
    await settled(clock)
    expect(cache.byIndex('word', 'second')).toEqual([])
    expect(changes).toEqual([
      { type: 'added', key: 'ns/a', value: { name: 'a', word: 'first' } },
      {
        type: 'changed',
        key: 'ns/a',
        value: { name: 'a', word: 'second' },
        previous: { name: 'a', word: 'first' },
      },
      { type: 'removed', key: 'ns/a', previous: { name: 'a', word: 'second' } },
    ])
    expect(() => cache.byIndex('colour', 'red')).toThrow('there is no index "colour" on this cache')
    await cache.stop()
  })
})

it('a server that has fallen behind is not believed: a lock that it had not heard of was taken for removed', async () => {
  const { clock, server, cache, changes, errors, texts } = fixture((server) => server.put('a', '1'))
  await settled(clock)
  const [version, before] = [Number(server.version), new Map(server.objects)]
  server.put('lock', '1')
  await settled(clock)
  server.restore(version, before)
  await clock.advance(60_000)
  expect(texts()).toEqual({ a: '1', lock: '1' })
  expect(String(errors.at(-1))).toContain('the list of configmaps is older than what is known of them')
  server.put('lock', '1')
  server.put('b', '1')
  await clock.advance(60_000)
  expect(texts()).toEqual({ a: '1', lock: '1', b: '1' })
  expect(changes).not.toContain('removed ns/lock')
  await cache.stop()
})

describe('knowing how good the view is', () => {
  it('the age grows while nothing is heard, and falls to nothing with an event or a bookmark', async () => {
    const { clock, server, cache } = fixture()
    await settled(clock)
    await clock.advance(40_000)
    expect(cache.view().ageMs()).toBe(40_000)
    server.bookmark()
    await settled(clock)
    expect(cache.ageMs()).toBe(0)
    server.faults.push(...Array.from({ length: 50 }, (): Fault => ({ kind: 'unreachable', after: 0 })))
    server.closeStreams()
    await clock.advance(100_000)
    expect([cache.synced, cache.ageMs()]).toEqual([true, 100_000])
    await cache.stop()
  })

  it('an own write is seen when its event came, or a bookmark past it', async () => {
    const { clock, server, cache } = fixture()
    await settled(clock)
    server.closeStreams()
    // The server says its version as it should; the stream after that is silent.
    server.faults.push({ kind: 'repeat' }, { kind: 'hang', after: 0 })
    cache.noteWrite(server.put('a', '1'))
    await clock.advance(1_000)
    expect(cache.hasSeen()).toBe(false)
    let isSeen = false
    const waiting = cache.whenSeen().then(() => {
      isSeen = true
    })
    await clock.advance(100_000)
    expect(isSeen).toBe(false)
    await clock.advance(100_000)
    await waiting
    expect(cache.hasSeen()).toBe(true)

    server.writeElsewhere()
    const elsewhere = server.version
    expect(cache.hasSeen(elsewhere)).toBe(false)
    server.bookmark()
    await cache.whenSeen(elsewhere)
    await cache.stop()
  })

  it('of several own writes the latest counts, in whatever order they are noted', async () => {
    const { clock, server, cache } = fixture()
    await settled(clock)
    const first = server.put('a', '1')
    await settled(clock)
    cache.noteWrite({ ...first, metadata: { ...first.metadata, resourceVersion: '999' } })
    cache.noteWrite(first)
    cache.noteWrite({ ...first, metadata: { name: 'a' } })
    expect([cache.hasSeen(), cache.hasSeen(first.metadata.resourceVersion)]).toEqual([false, true])
    await cache.stop()
  })

  it('versions that cannot be compared are not taken for seen', async () => {
    const { clock, cache } = fixture()
    await settled(clock)
    expect([cache.hasSeen('abc'), cache.hasSeen()]).toEqual([false, true])
    await cache.stop()
  })

  it('waiting ends with the signal, and with the cache', async () => {
    const { clock, server, cache } = fixture((server) => {
      server.faults.push(...Array.from({ length: 9 }, (): Fault => ({ kind: 'unreachable', after: 0 })))
    })
    const patience = new AbortController()
    const impatient = expect(cache.whenSynced(patience.signal)).rejects.toThrow('enough')
    const abandoned = expect(cache.whenSeen('5')).rejects.toBeInstanceOf(CofferdamError)
    patience.abort(new Error('enough'))
    await impatient
    await expect(cache.whenSynced(patience.signal)).rejects.toThrow('enough')
    await settled(clock)
    await cache.stop()
    await abandoned
    await expect(cache.whenSynced()).rejects.toMatchObject({ code: 'API_UNREACHABLE' })
    expect(server.watches).toHaveLength(1)
  })

  it('a stopped cache hears nothing more, keeps what it holds, and may be stopped again', async () => {
    const { clock, server, cache, changes, texts } = fixture((server) => server.put('a', '1'))
    await settled(clock)
    await cache.stop()
    await cache.stop()
    server.put('a', '2')
    await clock.advance(1_000_000)
    expect([texts(), changes, clock.nextAt()]).toEqual([{ a: '1' }, ['added ns/a 1'], undefined])
    await cache.whenSynced()
  })

  it('a listener that leaves hears nothing more', async () => {
    const { clock, server, cache } = fixture()
    await settled(clock)
    const heard: string[] = []
    const listener = ({ key }: { key: string }) => heard.push(key)
    const leave = cache.subscribe(listener)
    cache.subscribe(listener)
    server.put('a', '1')
    await settled(clock)
    leave()
    server.put('b', '1')
    await settled(clock)
    expect(heard).toEqual(['ns/a', 'ns/a', 'ns/b'])
    await cache.stop()
  })
})
