import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import type { Blocker } from '../shared/blocker.ts'
import { cephVerdict } from './ceph-verdict.ts'
import type { CephClusterExplanation, DomainAnswer } from './explain-ceph-cluster.ts'

const blocker: Blocker = {
  object: 'cephcluster/rook-ceph/rook-ceph',
  reason: 'OtherDomainDown',
  explanation: 'zone b waits until a is back',
  holder: 'cephcluster/rook-ceph/rook-ceph',
  causes: [],
  unblocks: 'zone a back',
  override: '',
  waiting: [],
}
const domain = (name: string, state: DomainAnswer['state'], osds: number[]): DomainAnswer => ({
  domain: name,
  state,
  says: state,
  nodes: [`worker-${name}1`],
  osds,
  blockers: state === 'held' ? [blocker] : [],
})
const explained = (domains: DomainAnswer[]): CephClusterExplanation => ({
  object: 'cephcluster/rook-ceph/rook-ceph',
  mayGo: false,
  summary: 'No node with OSDs of it may be drained now.',
  blockers: [],
  holds: [],
  failureDomainType: 'zone',
  domains,
  state: { placementGroups: '8 active+clean', quorum: 'a in quorum; none out', noout: 'not set' },
  update: {} as CephClusterExplanation['update'],
})
const mon = (status: 'True' | 'False'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'mon', namespace: 'rook-ceph' },
  spec: { containers: [] },
  status: { conditions: [{ type: 'Ready', status }] },
})

describe('a Ceph cluster at a glance', () => {
  it('has what is away before what is held before what is free, each with its reason', () => {
    const { domains, counts } = cephVerdict(
      explained([domain('c', 'free', [4]), domain('b', 'held', [2, 3]), domain('a', 'away', [0, 1])]),
      { cluster: undefined, view: undefined, mons: [] },
    )
    expect(domains).toEqual([
      { name: 'a', state: 'away', says: 'away', osds: '0, 1', nodes: ['worker-a1'] },
      {
        name: 'b',
        state: 'held',
        says: 'held',
        osds: '2, 3',
        nodes: ['worker-b1'],
        why: 'zone b waits until a is back (OtherDomainDown)',
        ends: 'zone a back',
      },
      { name: 'c', state: 'free', says: 'free', osds: '4', nodes: ['worker-c1'] },
    ])
    expect(counts).toEqual({ free: 1, held: 1, away: 1 })
  })

  it('has what is partly down before what is held, so that it is not missed at the end of a long list', () => {
    const downPart = { down: 1, total: 2, what: 'nodes' } as const
    const partly = { ...domain('c', 'free', [4]), says: 'Down (1 of 2 nodes): its rest may go', downPart }
    const { domains } = cephVerdict(explained([domain('a', 'held', [0]), domain('b', 'free', [1]), partly]), {
      cluster: undefined,
      view: undefined,
      mons: [],
    })
    expect(domains.map(({ name, says, isPartlyDown = false }) => [name, says, isPartlyDown])).toEqual([
      ['c', 'Down (1 of 2 nodes): its rest may go', true],
      ['a', 'held', false],
      ['b', 'free', false],
    ])
  })

  it('of a thousand hosts names some and counts all, so that the page stays small', () => {
    const hosts = Array.from({ length: 1_000 }, (_, at) => domain(`h${at}`, at === 999 ? 'held' : 'free', [at]))
    const { domains, counts } = cephVerdict(explained(hosts), { cluster: undefined, view: undefined, mons: [] })
    expect([domains.length, domains[0]?.name, counts.free, counts.held]).toEqual([24, 'h999', 999, 1])
  })

  it('says the health that Rook recorded and what Ceph complains of, and nothing where there is no record', () => {
    const details = { PG_DEGRADED: { severity: 'HEALTH_WARN', message: '12 pgs degraded' } }
    const cluster = { status: { ceph: { health: 'HEALTH_WARN', details } } }
    expect(cephVerdict(explained([]), { cluster, view: undefined, mons: [mon('True'), mon('False')] })).toMatchObject({
      health: 'HEALTH_WARN',
      checks: [{ name: 'PG_DEGRADED', message: '12 pgs degraded' }],
      mons: { ready: 1, total: 2 },
    })
    expect(cephVerdict(explained([]), { cluster: undefined, view: undefined, mons: [] })).not.toHaveProperty('health')
  })
})
