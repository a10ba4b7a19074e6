import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import { known } from '../../../shared/observed.ts'
import { heardNothing } from '../domain/pass-snapshot.ts'
import { calmState } from '../domain/state-map.ts'
import { PassMemories } from './pass-memories.ts'
import { CephDrainPerformer, type PerformPorts } from './perform.ts'
import { StorageTurns } from './storage-turns.ts'

const key = 'rook-ceph/my-cluster'
const cluster: CephCluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'my-cluster', uid: 'uid-1' },
  spec: {},
}

function performerOf(ports: { readonly [K in keyof PerformPorts]?: unknown }): CephDrainPerformer {
  const clock = new VirtualClock()
  const pass = {
    key,
    cluster,
    ceph: undefined,
    notifyDecided: undefined,
    readCeph: async () => {},
    signal: new AbortController().signal,
  }
  const all = { clock, memories: new PassMemories(clock), ...ports } as unknown as PerformPorts
  return new CephDrainPerformer(all, pass, heardNothing)
}

describe('a step of a pass over Ceph', () => {
  it('that begins another turn leaves mons and mgrs only what both turns allow, or two zones would lose daemons at once', async () => {
    const turns = new StorageTurns()
    const turn = { domains: ['zone-a'], heldNodes: { 'node-b': 'osd.1' }, openNodes: ['node-a'] }
    turns.publish(key, turn)
    const next = { domains: ['zone-b'], heldNodes: { 'node-a': 'osd.0' }, openNodes: ['node-b'] }
    const performer = performerOf({ turns })
    await performer.perform.hold({ do: 'hold', name: 'enter-turn', turn: next })
    expect(turns.inForce(key).turn).toMatchObject({ domains: [], heldNodes: { 'node-a': 'osd.0', 'node-b': 'osd.1' } })
    performer.end()
  })

  it('that the ledger refuses is decided again: no budget opens beside a fence that holds the storage', async () => {
    const ledger = known({ entries: [] })
    const performer = performerOf({ hold: { acquire: async () => ({ outcome: 'refused', ledger }) } })
    const claim = { wants: 'hold', requestId: 'ceph-drain/a' } as Extract<StorageClaim, { wants: 'hold' }>
    const outcome = await performer.perform.hold({ do: 'hold', name: 'hold-storage', claim, refusals: 0 })
    expect([outcome, performer.heard]).toMatchObject(['learned', { ledger, ledgerRefusals: 1, performed: [] }])
  })

  it('that is not on record is decided again: the next process would open a second zone beside it', async () => {
    const refused = new ApiError('Forbidden', 'exceeded quota')
    const performer = performerOf({ api: { create: () => Promise.reject(refused) } })
    const record = {
      namespace: 'rook-ceph',
      name: 'rook-ceph-pdbstatemap',
      configMap: undefined,
      state: calmState,
      reason: undefined,
      silentSince: undefined,
    }
    const decision = {
      reason: 'AnyOsdMayGo' as const,
      explanation: 'all is well',
      failureDomainType: 'zone',
      domains: [],
      problems: [],
    }
    const change = { state: { ...calmState, openDomains: ['zone-a'] }, decision, silentSince: undefined }
    const outcome = await performer.perform.write({ do: 'write', name: 'record', record, change })
    expect(outcome).toBe('learned')
    expect(performer.heard.record).toMatchObject({ refused: { why: 'exceeded quota', isForbidden: true } })
  })
})
