import { expect, it } from 'vitest'
import { parsePoolDetail, siteRulesOf } from './parse-pool-detail.ts'
import { readSample } from './testing/read-sample.ts'

it.each(['osd-pool-ls-detail', 'tentacle-osd-pool-ls-detail'])('%s of a real Ceph is read', (sample) => {
  const pools = parsePoolDetail(readSample(sample))
  expect(pools.known && pools.value).toEqual([
    { id: 1, name: 'rep', size: 3, minSize: 2, crushRuleId: 0, pgCount: 32, changedAt: expect.any(Number) },
    { id: 2, name: 'ec', size: 3, minSize: 2, crushRuleId: 2, pgCount: 32, changedAt: expect.any(Number) },
  ])
})

it('tells of the pools of a stretch cluster on which sites they must keep a copy', () => {
  const [rep, ec] = readSample('osd-pool-ls-detail') as object[]
  const stretched = { ...rep, peering_crush_bucket_count: 2, peering_crush_bucket_barrier: 8 }
  const degraded = { ...ec, peering_crush_bucket_count: 1, peering_crush_bucket_barrier: 8 }
  const pools = parsePoolDetail([stretched, degraded])
  const names = new Map([[8, 'datacenter']])
  expect(pools.known && siteRulesOf(pools.value, names)).toEqual([{ poolIds: [1], type: 'datacenter' }])
})

it('says which pool it cannot read', () => {
  expect(parsePoolDetail([{ pool_id: 1, pool_name: 'a' }])).toEqual({
    known: false,
    why: 'the answer to osd pool ls detail cannot be used: [0].size is missing',
  })
})
