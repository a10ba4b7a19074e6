import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../../test/property-runs.ts'
import type { ConfigMap } from '../api/core.ts'
import { configMaps } from '../api/resources.ts'
import { type Fault, HostileServer } from '../client/testing/hostile-server.ts'
import { seededRandom } from '../runtime/random.ts'
import { createWatchCache } from './watch-cache.ts'

type Step =
  | { readonly step: 'put'; readonly name: string; readonly text: string }
  | { readonly step: 'remove'; readonly name: string }
  | { readonly step: 'fault'; readonly fault: Fault }
  | { readonly step: 'wait'; readonly ms: number }
  | { readonly step: 'compact' | 'close' | 'bookmark' | 'elsewhere' }

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const after = fc.nat({ max: 4 })
const fault = fc.oneof(
  fc.record({ kind: fc.constantFrom('unreachable', 'hang', 'close', 'expire'), after }),
  fc.constant({ kind: 'repeat' }),
  fc.constantFrom(
    { kind: 'refuse', code: 500, reason: 'InternalError' },
    { kind: 'refuse', code: 410, reason: 'Expired' },
    { kind: 'refuse', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 5 },
    { kind: 'refuse', code: 403, reason: 'Forbidden' },
    { kind: 'refuse', code: 400, reason: 'BadRequest' },
  ),
) as fc.Arbitrary<Fault>
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ step: fc.constant('put'), name, text: fc.constantFrom('x', 'y', 'x z') }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('remove'), name }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('fault'), fault }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('wait'), ms: fc.constantFrom(0, 500, 5_000, 200_000) }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constantFrom('compact', 'close', 'bookmark', 'elsewhere') }) },
) as fc.Arbitrary<Step>

function take(server: HostileServer, clock: VirtualClock, move: Step): Promise<void> | undefined {
  switch (move.step) {
    case 'put':
      server.put(move.name, move.text)
      return undefined
    case 'remove':
      server.remove(move.name)
      return undefined
    case 'fault':
      server.faults.push(move.fault)
      return undefined
    case 'compact':
      server.compact()
      return undefined
    case 'close':
      server.closeStreams()
      return undefined
    case 'bookmark':
      server.bookmark()
      return undefined
    case 'elsewhere':
      server.writeElsewhere()
      return undefined
    case 'wait':
      return clock.advance(move.ms)
  }
}

const wordOf = (map: ConfigMap) => ({ name: map.metadata.name, word: map.data?.['text']?.split(' ')[0] ?? '' })
const versionOf = (map: ConfigMap) => ({ ...wordOf(map), version: Number(map.metadata.resourceVersion) })

describe('whatever a hostile server does, once it has calmed down', () => {
  it('the cache, its indexes and everybody who followed its changes hold what the server holds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.record({
          seed: fc.integer(),
          pageSize: fc.integer({ min: 1, max: 4 }),
          streaming: fc.constantFrom('yes' as const, 'refused' as const, 'ignored' as const),
          listBy: fc.constantFrom('stream' as const, 'pages' as const),
          project: fc.constantFrom<(map: ConfigMap) => { name: string; word: string; version?: number }>(
            wordOf,
            versionOf,
          ),
        }),
        async (steps, { seed, pageSize, streaming, listBy, project }) => {
          const clock = new VirtualClock()
          const server = new HostileServer()
          server.streaming = streaming
          const followed = new Map<string, unknown>()
          const newest = new Map<string, number>()
          const cache = createWatchCache({
            api: server.api,
            type: configMaps,
            clock,
            random: seededRandom(seed),
            project,
            indexes: { word: ({ word }) => [word] },
            pageSize,
            listBy,
            onChange(change) {
              // Whoever follows the changes never hears of a thing that cannot be.
              expect(followed.has(change.key)).toBe(change.type !== 'added')
              if (change.type !== 'added') expect(change.previous).toBe(followed.get(change.key))
              if (change.type === 'removed') {
                followed.delete(change.key)
                return
              }
              followed.set(change.key, change.value)
              // Nor of an earlier state than it has heard of, not even of one that is long gone.
              const { version } = change.value
              if (version === undefined) return
              if (change.type !== 'resynced') expect(version).toBeGreaterThan(newest.get(change.key) ?? 0)
              newest.set(change.key, version)
            },
            onError(error) {
              if (error instanceof Error && error.name === 'AssertionError') broken.push(error)
            },
          })
          const broken: Error[] = []
          for (const move of steps) await take(server, clock, move)

          server.faults.length = 0
          await clock.advance(600_000)
          const last = server.put('last', 'x')
          await clock.advance(1_000)

          const truth = [...server.objects.values()].map(project)
          const byName = (values: Iterable<{ name: string }>) => [...values].sort((l, r) => (l.name < r.name ? -1 : 1))
          expect(broken).toEqual([])
          expect(byName(cache.list())).toEqual(byName(truth))
          expect(byName(followed.values() as Iterable<{ name: string }>)).toEqual(byName(truth))
          for (const word of ['x', 'y']) {
            expect(byName(cache.byIndex('word', word))).toEqual(byName(truth.filter((value) => value.word === word)))
          }
          expect(cache.hasSeen(last.metadata.resourceVersion)).toBe(true)
          await cache.stop()
          expect(clock.nextAt()).toBeUndefined()
        },
      ),
      { numRuns: runsOf(500) },
    )
  })
})
