import { expect, it } from 'vitest'
import { observeCeph } from './observe-ceph.ts'
import { readSample, readSampleText } from './testing/read-sample.ts'
import { sampleCrushDump } from './testing/sample-crush.ts'
import { scriptCeph } from './testing/scripted-ceph.ts'

const dump = readSample('healthy-osd-dump') as { readonly pools: readonly object[] }

function observeWith(stretch: object) {
  const pools = dump.pools.map((pool, at) => (at === 0 ? { ...pool, ...stretch } : pool))
  return observeCeph(
    scriptCeph(({ prefix }) => {
      if (prefix === 'pg dump') return readSampleText('healthy-pg-dump-pgs_brief')
      return JSON.stringify(prefix === 'osd dump' ? { ...dump, pools } : sampleCrushDump)
    }),
  )
}

it('a pool that peers only with a copy on each of two sites says so in the map, and no question is put for it', async () => {
  const map = await observeWith({ peering_crush_bucket_count: 2, peering_crush_bucket_barrier: 3 })
  expect(map.known && map.value.sites).toEqual([{ poolIds: [1], type: 'rack' }])
})

it('a map without such pools has no sites', async () => {
  const map = await observeWith({ peering_crush_bucket_count: 0, peering_crush_bucket_barrier: 0 })
  expect(map.known && 'sites' in map.value).toBe(false)
})
