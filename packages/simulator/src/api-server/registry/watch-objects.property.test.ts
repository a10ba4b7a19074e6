import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { configMap, fixture, inDefault } from './testing/fixture.ts'

type Write = { readonly name: string; readonly tier: 'web' | 'db' | undefined; readonly pauses: boolean }

const write: fc.Arbitrary<Write> = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  tier: fc.constantFrom('web' as const, 'db' as const, undefined),
  pauses: fc.boolean(),
})

describe('a watcher with a selector, whatever is written', () => {
  it('that started from nothing or from a list knows in the end what a list shows, and saw versions only grow', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 30 }), fc.nat({ max: 30 }), async (writes, startsAfter) => {
        const { api, clock } = fixture()
        const query = { namespace: 'default', labelSelector: 'tier=web' }
        const known = new Map<string, string | undefined>()
        const versions: number[] = []
        const startWatching = async () => {
          const list = startsAfter % 2 === 0 ? await api.list(configMaps, query) : undefined
          for (const { metadata } of list?.items ?? []) known.set(metadata.name, metadata.resourceVersion)
          const from = list === undefined ? {} : { resourceVersion: list.resourceVersion }
          const read = async () => {
            for await (const event of api.watch(configMaps, { ...query, ...from })) {
              if (event.type === 'BOOKMARK') continue
              const { name, resourceVersion } = event.object.metadata
              if (list !== undefined) versions.push(Number(resourceVersion))
              if (event.type === 'DELETED') known.delete(name)
              else known.set(name, resourceVersion)
            }
          }
          void read()
        }
        for (const [at, { name, tier, pauses }] of writes.entries()) {
          if (at === startsAfter) await startWatching()
          if (tier === undefined) await api.delete(configMaps, inDefault(name)).catch(() => {})
          else {
            const wanted = configMap(name, { at: String(at) }, { labels: { tier } })
            await api.update(configMaps, wanted).catch(() => api.create(configMaps, wanted))
          }
          if (pauses) await clock.advance(0)
        }
        if (startsAfter >= writes.length) await startWatching()
        await clock.advance(0)
        const { items } = await api.list(configMaps, query)
        const shown = items.map(({ metadata }) => [metadata.name, metadata.resourceVersion])
        expect([...known].sort(([a], [b]) => (a < b ? -1 : 1))).toEqual(shown)
        expect(versions).toEqual([...versions].sort((a, b) => a - b))
      }),
      { numRuns: 60 },
    )
  })
})
