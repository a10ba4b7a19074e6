import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import { fixture, settled } from '../informers/testing/cache-fixture.ts'
import type { Fault } from './testing/hostile-server.ts'

describe('faults', () => {
  it('a stream that the server ends is taken up where it ended, without a list', async () => {
    const { clock, server, cache, changes, errors } = fixture((server) => server.put('a', '1'))
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
    const { clock, server, cache } = fixture((server) => server.put('a', '1'))
    await settled(clock)
    server.faults.push(...Array.from({ length: 1_000 }, (): Fault => ({ kind: 'close', after: 0 })))
    server.closeStreams()
    await clock.advance(600_000)
    expect(server.watches.length).toBeGreaterThan(15)
    expect(server.watches.length).toBeLessThan(50)
    await cache.stop()
  })

  it('lost history means a new list: the old state is served until it is whole, then the difference is told', async () => {
    const { clock, server, cache, changes, texts } = fixture((server) => {
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
    const { clock, server, cache, texts, errors } = fixture((server) => server.put('a', '1'))
    server.faults.push({ kind: 'expire', after: 2 })
    await clock.advance(10_000)
    server.put('a', '2')
    await clock.advance(10_000)
    expect(texts()).toEqual({ a: '2' })
    expect(errors).toEqual([])
    await cache.stop()
  })

  it('a list that expires between its pages is begun anew with larger pages', async () => {
    const { clock, server, cache, texts } = fixture(
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
    for (const [scenario, faults] of Object.entries(survived)) {
      it(`${scenario} is survived, listing by ${listBy}`, async () => {
        const { clock, server, cache, texts } = fixture(
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
    const { clock, server, cache, changes } = fixture((server) => server.put('a', '1'))
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
    const { clock, server, cache, errors } = fixture((server) => {
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
    const { clock, server, cache, errors } = fixture((server) => {
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

  it('a cluster restored from a backup is taken as it is after three minutes, though its versions are smaller', async () => {
    const { clock, server, cache, texts } = fixture((server) => server.put('a', '1'))
    await clock.advance(60_000)
    const backup = new Map(server.objects)
    for (let turn = 0; turn < 10; turn += 1) server.put('b', String(turn))
    await settled(clock)
    server.restore(2, backup)
    await clock.advance(240_000)
    server.put('c', '1')
    await settled(clock)
    expect(texts()).toEqual({ a: '1', c: '1' })
    await cache.stop()
  })

  it('a restored cluster that takes a watch from a version of after the backup hides nothing that is written since: it is asked for its version', async () => {
    const { clock, server, cache, texts, errors } = fixture((server) => server.put('a', '1'))
    server.future = 'awaited'
    await clock.advance(60_000)
    const backup = new Map(server.objects)
    for (let turn = 0; turn < 10; turn += 1) server.put('b', String(turn))
    await settled(clock)
    server.restore(2, backup)
    server.put('asked for since', '1')
    await clock.advance(60_000)
    expect(errors.map((error) => (error as Error).message)).toContain(
      'the list of configmaps is older than what is known of them: the API server has fallen behind, or was restored from a backup',
    )
    await clock.advance(180_000)
    server.put('c', '1')
    await settled(clock)
    expect(texts()).toEqual({ a: '1', 'asked for since': '1', c: '1' })
    await cache.stop()
  })

  it('the version is asked for once for each stream that is taken up, with one object and whatever its labels', async () => {
    const { clock, server, cache } = fixture((server) => server.put('a', '1'), { labelSelector: 'app=web' })
    await clock.advance(60_000)
    expect(server.lists).toEqual([])
    server.closeStreams()
    await settled(clock)
    expect(server.lists).toEqual([{ limit: 1, signal: expect.any(AbortSignal) }])
    await cache.stop()
  })

  it.each(['stream', 'pages'] as const)(
    'a server that was away for longer than ten seconds is listed by %s: one that was restored meanwhile may have come as far again',
    async (listBy) => {
      const { clock, server, cache, texts } = fixture((server) => server.put('a', '1'), { listBy })
      server.future = 'awaited'
      await clock.advance(60_000)
      const backup = new Map(server.objects)
      const listed = server.lists.length
      server.put('b', '1')
      await settled(clock)
      server.faults.push({ kind: 'hang', after: 0 })
      server.restore(2, backup)
      server.put('asked for since', '1')
      for (let turn = 0; turn < 10; turn += 1) server.writeElsewhere()
      await clock.advance(9_000)
      expect([server.lists.length - listed, texts()]).toEqual([1, { a: '1', b: '1' }])
      await clock.advance(3_000)
      expect(texts()).toEqual({ a: '1', 'asked for since': '1' })
      const streamed = server.watches.filter(({ sendInitialEvents }) => sendInitialEvents === true)
      expect(streamed).toHaveLength(listBy === 'stream' ? 2 : 0)
      await cache.stop()
    },
  )

  it('a collection that may be listed and not watched is not listed over and over in place of that', async () => {
    const { clock, server, cache } = fixture((server) => server.put('a', '1'), { listBy: 'pages' })
    await clock.advance(60_000)
    const forbidden: Fault = { kind: 'refuse', code: 403, reason: 'Forbidden' }
    server.faults.push(...Array.from({ length: 10 }, (): Fault[] => [{ kind: 'repeat' }, forbidden]).flat())
    server.closeStreams()
    await clock.advance(300_000)
    expect(server.lists.filter(({ limit }) => limit !== 1)).toHaveLength(1)
    expect(server.faults).toEqual([])
    await cache.stop()
  })

  it('a stream that was silent for three minutes is followed by a list: what its server has become is not known', async () => {
    const { clock, server, cache } = fixture((server) => server.put('a', '1'))
    await clock.advance(60_000)
    server.faults.push({ kind: 'repeat' }, { kind: 'hang', after: 0 })
    server.closeStreams()
    await clock.advance(200_000)
    expect(server.watches.map(({ sendInitialEvents = false }) => sendInitialEvents)).toEqual([true, false, true])
    await cache.stop()
  })

  it('a listener that throws stops neither the cache nor the others', async () => {
    const { clock, server, cache, changes, errors, texts } = fixture()
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
    const { clock, server, cache, errors, texts } = fixture((server) => server.put('a', '1'), {
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
    const { clock, server, cache } = fixture((server) => server.faults.push({ kind: 'unreachable', after: 0 }), {
      onError() {
        throw new Error('even this')
      },
    })
    await clock.advance(10_000)
    expect([cache.synced, server.faults]).toEqual([true, []])
    await cache.stop()
  })
})
