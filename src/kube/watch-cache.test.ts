import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import type { ConfigMap } from '../api/core.ts'
import { configMaps } from '../api/resources.ts'
import { CofferdamError } from '../errors.ts'
import { seededRandom } from '../runtime/random.ts'
import { VirtualClock } from '../runtime/virtual-clock.ts'
import { type Fault, HostileServer } from './testing/hostile-server.ts'
import { createWatchCache, type WatchCacheOptions } from './watch-cache.ts'
import type { ViewChange } from './watch-view.ts'

type MapOptions = Partial<WatchCacheOptions<ConfigMap, ConfigMap>>

function stage(prepare: (server: HostileServer) => void = () => {}, options: MapOptions = {}) {
  const clock = new VirtualClock()
  const server = new HostileServer()
  prepare(server)
  const changes: string[] = []
  const errors: unknown[] = []
  const cache = createWatchCache<ConfigMap>({
    api: server.api,
    type: configMaps,
    clock,
    random: seededRandom(1),
    onChange: (change) => changes.push(`${change.type} ${change.key}${textOf(change)}`),
    onError: (error) => errors.push(error),
    ...options,
  })
  return { clock, server, cache, changes, errors, texts: () => textsOf(cache.list()) }
}

function textOf(change: ViewChange<ConfigMap>): string {
  return change.type === 'removed' ? '' : ` ${change.value.data?.['text']}`
}

function textsOf(maps: Iterable<ConfigMap>): Record<string, string | undefined> {
  return Object.fromEntries([...maps].map((map) => [map.metadata.name, map.data?.['text']]))
}

/** What was asked, without what differs from run to run. */
function withoutSignal(query: object): object {
  return { ...query, signal: undefined, timeoutSeconds: undefined }
}

const settled = (clock: VirtualClock) => clock.advance(0)

describe('following a collection', () => {
  it('the first list is told as additions, and only when it is whole', async () => {
    const { clock, server, cache, changes } = stage((server) => {
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
    const { clock, server, cache } = stage((server) => server.put('a', '1'))
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
    const { clock, server, cache, texts } = stage(
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
    const { clock, server, cache } = stage((server) => server.put('a', '1'))
    await settled(clock)
    expect(server.lists).toEqual([])
    expect(server.watches.map(withoutSignal)).toEqual([
      { allowBookmarks: true, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' },
    ])
    await cache.stop()
  })

  for (const streaming of ['refused', 'ignored'] as const) {
    it(`falls back on pages when the request to stream is ${streaming}`, async () => {
      const { clock, server, cache, errors, texts } = stage((server) => {
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

describe('faults', () => {
  it('a stream that the server ends is taken up where it ended, without a list', async () => {
    const { clock, server, cache, changes, errors } = stage((server) => server.put('a', '1'))
    await clock.advance(60_000)
    server.closeStreams()
    server.put('a', '2')
    await settled(clock)
    expect(changes).toEqual(['added ns/a 1', 'changed ns/a 2'])
    expect(
      server.watches.map(({ resourceVersion, sendInitialEvents }) => ({ resourceVersion, sendInitialEvents })),
    ).toEqual([{ sendInitialEvents: true }, { resourceVersion: '2' }])
    expect(errors).toEqual([])
    await cache.stop()
  })

  it('a server that ends every stream at once is asked with growing pauses', async () => {
    const { clock, server, cache } = stage((server) => server.put('a', '1'))
    await settled(clock)
    server.faults.push(...Array.from({ length: 1_000 }, (): Fault => ({ kind: 'close', after: 0 })))
    server.closeStreams()
    await clock.advance(600_000)
    expect(server.watches.length).toBeGreaterThan(15)
    expect(server.watches.length).toBeLessThan(50)
    await cache.stop()
  })

  it('lost history means a new list: the old state is served until it is whole, then the difference is told', async () => {
    const { clock, server, cache, changes, texts } = stage((server) => {
      for (const name of ['kept', 'changed', 'removed']) server.put(name, '1')
    })
    await clock.advance(60_000)
    changes.length = 0
    server.faults.push({ kind: 'unreachable', after: 0 }, { kind: 'refuse', code: 410, reason: 'Gone' })
    server.closeStreams()
    server.put('changed', '2')
    server.remove('removed')
    server.put('added', '1')
    server.compact()
    await settled(clock)
    expect(texts()).toEqual({ kept: '1', changed: '1', removed: '1' })
    await clock.advance(10_000)
    expect(changes).toEqual(['removed ns/removed', 'resynced ns/kept 1', 'changed ns/changed 2', 'added ns/added 1'])
    expect(texts()).toEqual({ kept: '1', changed: '2', added: '1' })
    await cache.stop()
  })

  it('history lost in the middle of a stream is survived in the same way', async () => {
    const { clock, server, cache, texts, errors } = stage((server) => server.put('a', '1'))
    server.faults.push({ kind: 'expire', after: 2 })
    await clock.advance(10_000)
    server.put('a', '2')
    await clock.advance(10_000)
    expect(texts()).toEqual({ a: '2' })
    expect(errors).toEqual([])
    await cache.stop()
  })

  it('a list that expires between its pages is begun anew with larger pages', async () => {
    const { clock, server, cache, texts } = stage(
      (server) => {
        for (let index = 0; index < 6; index += 1) server.put(`m${index}`, 'x')
        server.faults.push({ kind: 'close', after: 0 }, { kind: 'expire', after: 0 })
      },
      { listBy: 'pages', pageSize: 2 },
    )
    await clock.advance(10_000)
    expect(server.lists.map(({ limit, continueToken }) => [limit, continueToken])).toEqual([
      [2, undefined],
      [2, '7:2'],
      [4, undefined],
      [4, '7:4'],
    ])
    expect(Object.keys(texts())).toHaveLength(6)
    await cache.stop()
  })

  const survived: Record<string, readonly Fault[]> = {
    'a first list that answers 500': [{ kind: 'refuse', code: 500, reason: 'InternalError' }],
    'three resets in a row': [0, 0, 1].map((after) => ({ kind: 'unreachable', after })),
    'a forbidden collection that is allowed later': [{ kind: 'refuse', code: 403, reason: 'Forbidden' }],
    'a version that the server does not understand': [
      { kind: 'close', after: 2 },
      { kind: 'refuse', code: 400, reason: 'BadRequest' },
    ],
    'a first list that hangs': [{ kind: 'hang', after: 0 }],
    'a stream that falls silent': [{ kind: 'hang', after: 2 }],
    'events that come twice, and old ones again': [{ kind: 'close', after: 2 }, { kind: 'repeat' }],
  }
  for (const listBy of ['stream', 'pages'] as const) {
    for (const [story, faults] of Object.entries(survived)) {
      it(`${story} is survived, listing by ${listBy}`, async () => {
        const { clock, server, cache, texts } = stage(
          (server) => {
            server.put('a', '1')
            server.put('b', '1')
            server.faults.push(...faults)
          },
          { listBy },
        )
        await clock.advance(1_000)
        server.put('a', '2')
        server.remove('b')
        await clock.advance(400_000)
        server.put('c', '1')
        await settled(clock)
        expect(texts()).toEqual({ a: '2', c: '1' })
        await cache.stop()
      })
    }
  }

  it('repeated events change nothing, not even for a moment, and bring nothing back', async () => {
    const { clock, server, cache, changes } = stage((server) => server.put('a', '1'))
    await clock.advance(5_000)
    server.put('gone-before', '1')
    server.remove('gone-before')
    await settled(clock)
    server.faults.push({ kind: 'repeat' })
    server.closeStreams()
    await clock.advance(5_000)
    changes.length = 0
    server.put('a', '2')
    server.remove('a')
    server.put('b', '1')
    await settled(clock)
    server.put('a', '3')
    await settled(clock)
    expect(changes).toEqual(['changed ns/a 2', 'removed ns/a', 'added ns/b 1', 'added ns/a 3'])
    await cache.stop()
  })

  it('a server that asks for patience gets at least as much as it asked for', async () => {
    const { clock, server, cache, errors } = stage((server) => {
      server.faults.push({ kind: 'refuse', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 20 })
    })
    await clock.advance(20_000)
    expect(server.watches).toHaveLength(1)
    await clock.advance(800)
    expect([server.watches.length, cache.synced]).toEqual([2, true])
    expect(errors).toEqual([expect.any(ApiError)])
    await cache.stop()
  })

  it('pauses grow while the server fails, and are short again after it was heard', async () => {
    const { clock, server, cache, errors } = stage((server) => {
      server.faults.push(...Array.from({ length: 8 }, (): Fault => ({ kind: 'unreachable', after: 0 })))
    })
    await clock.advance(120_000)
    expect([errors.length, cache.synced]).toEqual([8, true])
    server.put('a', '1')
    await settled(clock)
    server.faults.push({ kind: 'unreachable', after: 0 })
    server.closeStreams()
    await clock.advance(1_600)
    expect([errors.length, server.faults.length]).toEqual([9, 0])
    await cache.stop()
  })

  it('a cluster restored from a backup is taken as it is, though its versions are smaller', async () => {
    const { clock, server, cache, texts } = stage((server) => server.put('a', '1'))
    await clock.advance(60_000)
    const backup = new Map(server.objects)
    for (let turn = 0; turn < 10; turn += 1) server.put('b', String(turn))
    await settled(clock)
    server.restore(2, backup)
    await clock.advance(10_000)
    server.put('c', '1')
    await settled(clock)
    expect(texts()).toEqual({ a: '1', c: '1' })
    await cache.stop()
  })

  it('a listener that throws stops neither the cache nor the others', async () => {
    const { clock, server, cache, changes, errors, texts } = stage()
    cache.subscribe(() => {
      throw new Error('a listener of bad manners')
    })
    const polite: string[] = []
    cache.subscribe((change) => polite.push(change.key))
    await settled(clock)
    server.put('a', '1')
    server.put('b', '1')
    await settled(clock)
    expect([changes, polite]).toEqual([
      ['added ns/a 1', 'added ns/b 1'],
      ['ns/a', 'ns/b'],
    ])
    expect(errors).toEqual([new Error('a listener of bad manners'), new Error('a listener of bad manners')])
    expect(texts()).toEqual({ a: '1', b: '1' })
    await cache.stop()
  })

  it('a projection that throws makes the cache grow old instead of wrong, until it can again', async () => {
    let isBroken = false
    const { clock, server, cache, errors, texts } = stage((server) => server.put('a', '1'), {
      project(map) {
        if (isBroken && map.metadata.name === 'b') throw new Error('cannot read that')
        return map
      },
    })
    await settled(clock)
    isBroken = true
    server.put('b', '1')
    await clock.advance(60_000)
    expect([texts(), cache.hasSeen(server.version)]).toEqual([{ a: '1' }, false])
    expect(cache.ageMs()).toBe(60_000)
    expect(errors[0]).toEqual(new Error('cannot read that'))
    isBroken = false
    await clock.advance(60_000)
    expect(texts()).toEqual({ a: '1', b: '1' })
    await cache.stop()
  })

  it('an error report that throws is nobody elses business', async () => {
    const { clock, server, cache } = stage((server) => server.faults.push({ kind: 'unreachable', after: 0 }), {
      onError() {
        throw new Error('even this')
      },
    })
    await clock.advance(10_000)
    expect([cache.synced, server.faults]).toEqual([true, []])
    await cache.stop()
  })
})

describe('knowing how good the view is', () => {
  it('the age grows while nothing is heard, and falls to nothing with an event or a bookmark', async () => {
    const { clock, server, cache } = stage()
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
    const { clock, server, cache } = stage()
    await settled(clock)
    server.closeStreams()
    server.faults.push({ kind: 'hang', after: 0 })
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
    const { clock, server, cache } = stage()
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
    const { clock, cache } = stage()
    await settled(clock)
    expect([cache.hasSeen('abc'), cache.hasSeen()]).toEqual([false, true])
    await cache.stop()
  })

  it('waiting ends with the signal, and with the cache', async () => {
    const { clock, server, cache } = stage((server) => {
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
    const { clock, server, cache, changes, texts } = stage((server) => server.put('a', '1'))
    await settled(clock)
    await cache.stop()
    await cache.stop()
    server.put('a', '2')
    await clock.advance(1_000_000)
    expect([texts(), changes, clock.nextAt()]).toEqual([{ a: '1' }, ['added ns/a 1'], undefined])
    await cache.whenSynced()
  })

  it('a listener that leaves hears nothing more', async () => {
    const { clock, server, cache } = stage()
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
