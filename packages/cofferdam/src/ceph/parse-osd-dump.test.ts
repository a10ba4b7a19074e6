import { describe, expect, it } from 'vitest'
import { parseOsdDump } from './parse-osd-dump.ts'
import { readSample } from './testing/read-sample.ts'

const fsid = '11111111-2222-3333-4444-555555555555'
const pools = [
  { id: 1, name: 'rep', kind: 'replicated', size: 3, minSize: 2, crushRuleId: 0 },
  { id: 2, name: 'ec', kind: 'erasure', size: 3, minSize: 2, crushRuleId: 2 },
]
const pgCounts = new Map([
  [1, 32],
  [2, 32],
])
const flags = ['sortbitwise', 'recovery_deletes', 'purged_snapdirs', 'pglog_hardlimit']

describe('osd dump of a real Ceph', () => {
  const cases: Record<string, { sample: string; then: object }> = {
    'a healthy cluster has its OSDs up and in since their epochs': {
      sample: 'healthy-osd-dump',
      then: {
        epoch: 39,
        osds: [osd(0, { upFrom: 19 }), osd(1, { upFrom: 20 })],
      },
    },
    'flags on a host and on the cluster are told apart': {
      sample: 'flags-osd-dump',
      then: {
        epoch: 42,
        osds: [osd(0, { upFrom: 19 }), osd(7, { upFrom: 22, hasNoout: true })],
        flags: ['norebalance', ...flags],
        bucketFlags: { r0h0: ['noout'] },
      },
    },
    'an OSD that went down says in which epoch': {
      sample: 'osd0-down-osd-dump',
      then: { epoch: 47, osds: [osd(0, { isUp: false, upFrom: 19, downAt: 46 }), osd(1, { upFrom: 20 })] },
    },
    'a host that went down took its OSDs one after the other': {
      sample: 'host-r0h0-down-osd-dump',
      then: {
        epoch: 49,
        osds: [osd(0, { isUp: false, upFrom: 19, downAt: 46 }), osd(1, { isUp: false, upFrom: 20, downAt: 48 })],
      },
    },
  }
  it.each(Object.entries(cases))('%s', (_, { sample, then }) => {
    expect(parseOsdDump(readSample(sample))).toEqual({
      known: true,
      value: { fsid, pools, pgCounts, flags, requiredRelease: 'pacific', bucketFlags: {}, ...then },
    })
  })
})

it('an OSD that carries noout itself is told from one whose host does: only its own flag can be taken from it', () => {
  const shared = { up: 1, in: 1, up_from: 1, down_at: 0 }
  const osds = [
    { ...shared, osd: 0, state: ['exists', 'noout', 'up'] },
    { ...shared, osd: 1, state: ['exists', 'up'] },
  ]
  const parsed = parseOsdDump({ epoch: 7, fsid: 'f', flags: '', osds, pools: [], crush_node_flags: { h: ['noout'] } })
  expect(parsed.known && parsed.value.osds.map(({ hasNoout }) => hasNoout)).toEqual([true, undefined])
})

describe('an osd dump that lacks something', () => {
  const whole = {
    epoch: 7,
    fsid: 'f',
    flags: '',
    osds: [{ osd: 0, up: 1, in: 1, up_from: 1, down_at: 0 }],
    pools: [{ pool: 1, pool_name: 'rep', type: 1, size: 3, min_size: 2, crush_rule: 0 }],
  }
  const [oneOsd] = whole.osds
  const [onePool] = whole.pools
  const cases: Record<string, { given: unknown; why: string }> = {
    'text is no map': { given: 'osd dump', why: 'osd dump is not an object' },
    'nothing is no map': { given: null, why: 'osd dump is missing' },
    'a map without an epoch cannot be compared with another': {
      given: { ...whole, epoch: undefined },
      why: 'epoch is missing',
    },
    'a map without its cluster may be that of another': {
      given: { ...whole, fsid: undefined },
      why: 'fsid is missing',
    },
    'OSDs that are not a list are none': { given: { ...whole, osds: {} }, why: 'osds is not a list' },
    'one OSD that cannot be read makes the rest unknown, since left out it would count as harmless': {
      given: { ...whole, osds: [oneOsd, { ...oneOsd, up: 'maybe' }] },
      why: 'osds[1].up is neither yes nor no',
    },
    'an OSD that does not say when it went down cannot be held against a report': {
      given: { ...whole, osds: [{ ...oneOsd, down_at: undefined }] },
      why: 'osds[0].down_at is missing',
    },
    'a pool of a kind we do not know has a floor we do not know': {
      given: { ...whole, pools: [{ ...onePool, type: 2 }] },
      why: 'pools[0].type is 2, neither replicated (1) nor erasure (3)',
    },
    'a pool without min_size has no floor': {
      given: { ...whole, pools: [{ ...onePool, min_size: 'two' }] },
      why: 'pools[0].min_size is not a whole number',
    },
    'flags of a bucket that are no list could hide a noout': {
      given: { ...whole, crush_node_flags: { 'zone-a': 'noout' } },
      why: 'crush_node_flags.zone-a is not a list',
    },
  }
  it.each(Object.entries(cases))('%s', (_, { given, why }) => {
    expect(parseOsdDump(given)).toEqual({ known: false, why: `the answer to osd dump cannot be used: ${why}` })
  })

  it('an OSD that is listed twice is one OSD, down if one entry says so: 13 of 12 OSDs were planned, and one twice in a round', () => {
    const again = { ...oneOsd, up: 0, down_at: 6 }
    expect(parseOsdDump({ ...whole, osds: [oneOsd, again] })).toMatchObject({
      known: true,
      value: { osds: [osd(0, { isUp: false, upFrom: 1, downAt: 6 })], repeatedOsds: [0] },
    })
  })

  it('numbers may come as text, and releases without bucket flags have none', () => {
    const asText = { ...whole, epoch: '7', osds: [{ osd: '0', up: '1', in: '0', up_from: '1', down_at: '0' }] }
    expect(parseOsdDump(asText)).toEqual({
      known: true,
      value: {
        fsid: 'f',
        epoch: 7,
        osds: [osd(0, { isIn: false, upFrom: 1 })],
        pools: [pools[0]],
        pgCounts: new Map(),
        flags: [],
        bucketFlags: {},
      },
    })
  })
})

function osd(id: number, more: object) {
  return { id, isUp: true, isIn: true, downAt: 0, ...more }
}
