import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { CephMap } from './ceph-map.ts'
import { buildSafetyIndex, type SafetyIndex } from './safety-index.ts'
import { exampleMap } from './testing/example-map.ts'

const samples = new URL('../ceph/testing/samples/', import.meta.url)

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`${name}.json`, samples), 'utf8')) as T
}

interface Tree {
  readonly nodes: readonly {
    readonly id: number
    readonly name: string
    readonly type: string
    readonly status?: string
    readonly children?: readonly number[]
  }[]
}
interface PgDump {
  readonly pg_stats: readonly { pgid: string; state: string; acting: number[]; up: number[] }[]
}
type Pools = readonly { pool_id: number; pool_name: string; size: number; min_size: number; crush_rule: number }[]
interface OkToStop {
  readonly ok_to_stop: boolean
  readonly osds: readonly number[]
  readonly bad_become_inactive?: readonly string[]
}

function indexOf(names: { tree: string; pgs: string; pools?: string }): SafetyIndex {
  const { nodes } = read<Tree>(names.tree)
  const map: CephMap = exampleMap({
    hosts: {},
    osds: nodes.filter(({ type }) => type === 'osd').map(({ id, status }) => ({ id, isUp: status === 'up' })),
    pools: read<Pools>(names.pools ?? 'osd-pool-ls-detail').map((pool) => ({
      id: pool.pool_id,
      name: pool.pool_name,
      size: pool.size,
      minSize: pool.min_size,
      crushRuleId: pool.crush_rule,
    })),
    pgs: read<PgDump>(names.pgs).pg_stats.map(({ pgid, ...row }) => ({ pg: pgid, ...row })),
    crush: {
      buckets: nodes
        .filter(({ id }) => id < 0)
        .map(({ id, name, type, children = [] }) => ({ id, name, type, children })),
    },
  })
  return buildSafetyIndex(map)
}

const healthy = indexOf({ tree: 'healthy-osd-tree', pgs: 'healthy-pg-dump-pgs_brief' })
const oneDown = indexOf({ tree: 'osd0-down-osd-tree', pgs: 'osd0-down-pg-dump-pgs_brief' })
const hostDown = indexOf({ tree: 'host-r0h0-down-osd-tree', pgs: 'host-r0h0-down-pg-dump-pgs_brief' })
const recovering = indexOf({ tree: 'healthy-osd-tree', pgs: 'recovering-pg-dump-pgs_brief' })
const tentacle = indexOf({
  tree: 'healthy-osd-tree',
  pgs: 'tentacle-healthy-pg-dump-pgs_brief',
  pools: 'tentacle-osd-pool-ls-detail',
})

describe('against the answers of a real Ceph 16.2.15', () => {
  const agreed: Record<string, { index: SafetyIndex; answer: string }> = {
    'all is well: osd.0 may stop': { index: healthy, answer: 'ok-to-stop-single-ok' },
    'all is well: the whole host of osd.0 may stop': { index: healthy, answer: 'ok-to-stop-max4-ok' },
    'all is well: a host and one OSD of its neighbour may not': { index: healthy, answer: 'ok-to-stop-3-notok' },
    'osd.0 is down: it may stop': { index: oneDown, answer: 'osd0-down-ok-to-stop-0' },
    'osd.0 is down: the other OSD of its host may stop': { index: oneDown, answer: 'osd0-down-ok-to-stop-1' },
    'osd.0 is down: an OSD of another host may not': { index: oneDown, answer: 'osd0-down-ok-to-stop-2' },
    'a host is down: osd.4 of another rack may not': { index: hostDown, answer: 'host-r0h0-down-ok-to-stop-4' },
    'Ceph 20.2.4, where its answer is right': { index: tentacle, answer: 'tentacle-ok-to-stop-0-2-notok' },
  }
  for (const [sentence, { index, answer }] of Object.entries(agreed)) {
    it(sentence, () => {
      const { ok_to_stop: isOk, osds, bad_become_inactive: bad = [] } = read<OkToStop>(answer)
      const verdict = index.mayStop(osds)
      expect({
        may: verdict.may,
        count: verdict.may === 'no' ? verdict.troubleCount : 0,
        others: verdict.may === 'no' ? verdict.troubles.filter(({ pg }) => !bad.includes(pg)) : [],
      }).toEqual({ may: isOk ? 'yes' : 'no', count: bad.length, others: [] })
    })
  }

  it('while two placement groups of osd.4 recover, Ceph knows that it may not stop, and we know that we do not know', () => {
    expect(read<OkToStop>('recovering-ok-to-stop-4-1').bad_become_inactive).toEqual(['2.f', '2.10'])
    expect(recovering.mayStop([4])).toEqual({
      may: 'unknown',
      why: 'copies of 2 placement groups may lack objects (2.f, 2.10)',
    })
  })

  it('each host alone may go while all is well', () => {
    expect(healthy.domainVerdicts('host').map(({ domain, verdict }) => [domain, verdict.may])).toEqual(
      ['r0h0', 'r0h1', 'r1h0', 'r1h1', 'r2h0', 'r2h1'].map((host) => [host, 'yes']),
    )
  })

  it('while a host is down no host may go but that one', () => {
    expect(hostDown.domainVerdicts('host').map(({ domain, verdict }) => [domain, verdict.may])).toEqual([
      ['r0h0', 'yes'],
      ...['r0h1', 'r1h0', 'r1h1', 'r2h0', 'r2h1'].map((host) => [host, 'no']),
    ])
  })
})

describe('against Ceph 20.2.4, which looks at the last acting member only', () => {
  it('osd.5 and osd.6 may not stop, though it says so: two placement groups stopped serving when they did', () => {
    expect(read<OkToStop>('tentacle-ok-to-stop-5-6-FALSE-OK').ok_to_stop).toBe(true)
    expect(tentacle.mayStop([5, 6])).toEqual({
      may: 'no',
      troubles: [
        { pg: '1.17', pool: 'rep', left: 1, floor: 2 },
        { pg: '1.1b', pool: 'rep', left: 1, floor: 2 },
      ],
      troubleCount: 2,
    })
  })

  it('the set that it offers for osd.4 may not stop either', () => {
    const { ok_to_stop: isOk, osds } = read<OkToStop>('tentacle-ok-to-stop-4-max20-FALSE-OK')
    expect([isOk, osds]).toEqual([true, [4, 5, 6]])
    expect(tentacle.mayStop(osds)).toMatchObject({
      may: 'no',
      troubles: [{ pg: '1.6' }, { pg: '1.17' }, { pg: '1.1b' }],
      troubleCount: 3,
    })
  })
})
