import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import type { LonghornSnapshot, ReplicaView } from './snapshot.ts'
import { type Fixture, gist, longhornFixture } from './testing/longhorn-fixture.ts'

const nodes = { n1: {}, n2: {}, n3: {} }
const cordoned = { ...nodes, n1: { isCordoned: true } }
const copies = { n1: 'healthy', n2: 'healthy', n3: 'healthy' } as const
const upgraded = 'its engine is upgraded to longhorn-engine:v2'

/** Every replica has a double, as while its engine is upgraded or it migrates: names before or after those of the live ones. */
function doubled(fixture: Fixture, suffix = 'z', more: Partial<ReplicaView> = {}): LonghornSnapshot {
  const seen = longhornFixture(fixture)
  const doubles = seen.replicas.map((replica) => ({
    ...replica,
    name: suffix === 'z' ? `${replica.name}-z` : `a-${replica.name}`,
    isActive: false,
    ...more,
  }))
  return { ...seen, replicas: [...seen.replicas, ...doubles] }
}

describe('copies beyond what a volume wants, while each replica has a double over the same data directory', () => {
  const removal = { surplus: 'remove', nodes } as const
  const inUse = { copies, attachedTo: 'n1' }
  const table: Record<string, LonghornSnapshot> = {
    'an engine upgrade: the live replica would be deleted, and its data directory with it': doubled(
      { ...removal, volumes: { v: { ...inUse, unsettled: upgraded } } },
      'a',
    ),
    'the same, whichever of the two names comes first': doubled({
      ...removal,
      volumes: { v: { ...inUse, unsettled: upgraded } },
    }),
    'a migration: the same harm': doubled(
      { ...removal, volumes: { v: { ...inUse, unsettled: 'it migrates to node n2' } } },
      'a',
    ),
    'the volume says already, or still, that nothing is under way: doubles are no copies': doubled(
      { ...removal, volumes: { v: inUse } },
      'a',
    ),
    'the only replica of a volume that is used elsewhere: all of its data would be gone': doubled(
      { ...removal, volumes: { v: { copies: { n1: 'healthy' }, attachedTo: 'n2', unsettled: upgraded } } },
      'a',
    ),
    'both of a pair are active for a moment: they are still one and the same data': doubled(
      { ...removal, volumes: { v: inUse } },
      'a',
      { isActive: true },
    ),
  }

  it.each(Object.entries(table))('%s; so none is removed', (_, seen) => {
    expect(decideLonghornDrain(seen).surplusReplicas).toEqual([])
  })
})

describe('a copy that is really too many', () => {
  const four = { nodes: { ...nodes, n4: {} }, surplus: 'remove' } as const
  const volume = { copies: { ...copies, n4: 'healthy' }, numberOfReplicas: 3 } as const

  it('goes once the volume has settled', () => {
    const decision = decideLonghornDrain(longhornFixture({ ...four, volumes: { v: volume } }))
    expect([decision.surplusReplicas, decision.surplusKept]).toEqual([['v-n4'], []])
  })

  const kept: Record<string, readonly [LonghornSnapshot, string]> = {
    'during an engine upgrade': [
      longhornFixture({ ...four, volumes: { v: { ...volume, unsettled: upgraded } } }),
      upgraded,
    ],
    'while one of its replicas is not active': [
      withReplica(longhornFixture({ ...four, volumes: { v: volume } }), {
        name: 'v-x',
        isActive: false,
        directory: 'other',
      }),
      'replica v-x is not active',
    ],
    'while it is not known where the data of one lies': [
      longhornFixture({ ...four, volumes: { v: { ...volume, copies: { ...volume.copies, n4: { directory: '' } } } } }),
      'the data directory of replica v-n4 is not known',
    ],
    'while two share their data': [
      longhornFixture({
        ...four,
        volumes: {
          v: { ...volume, copies: { ...copies, n4: { node: 'n3', diskUuid: 'disk-n3', directory: 'v-n3' } } },
        },
      }),
      'replicas v-n3 and v-n4 share a data directory',
    ],
  }
  it.each(Object.entries(kept))('stays %s, and the reason is told', (_, [seen, why]) => {
    const { surplusReplicas, surplusKept } = decideLonghornDrain(seen)
    expect(surplusReplicas).toEqual([])
    expect(surplusKept).toEqual([
      { volume: 'v', explanation: `Volume v has 4 copies and wants 3. None is removed now: ${why}.` },
    ])
  })
})

describe('a double', () => {
  it('is no copy that a node may go for: the last live one would go with it', () => {
    const seen = withReplica(longhornFixture({ nodes: cordoned, volumes: { v: { copies: { n1: 'healthy' } } } }), {
      name: 'v-x',
      isActive: false,
      node: 'n2',
      instanceManager: 'im-n2',
      diskUuid: 'disk-n2',
    })
    const decision = decideLonghornDrain(seen)
    expect(gist(decision).mayDrain).toBe('n1: LastReplica')
    expect(decision.nodes[0]?.explanation).toContain('there is no copy on another node')
  })

  it('holds no node beside its live one: the volume is as well protected as before the upgrade', () => {
    const { mayDrain } = gist(decideLonghornDrain(doubled({ nodes: cordoned, volumes: { v: { copies } } })))
    expect(mayDrain).toBe('n1: yes')
  })

  it('without a live one on its node holds it: it may have the only data', () => {
    const seen = doubled({ nodes: cordoned, volumes: { v: { copies: { n1: 'healthy' } } } })
    const left = { ...seen, replicas: seen.replicas.filter(({ isActive }) => !isActive) }
    const decision = decideLonghornDrain(left)
    expect(gist(decision).mayDrain).toBe('n1: LastReplica')
    expect(decision.nodes[0]?.explanation).toContain('is not active, and no active replica answers for its data')
  })

  const differing: Record<string, readonly [Fixture, Partial<ReplicaView>]> = {
    'is whole while the live one was never written': [
      { nodes: cordoned, volumes: { v: { copies: { n1: 'unused' } } } },
      { healthyAt: '2026-01-01T00:00:00Z' },
    ],
    'runs while the live one is stopped': [
      {
        policy: 'allow-if-replica-is-stopped',
        nodes: cordoned,
        volumes: { v: { copies: { n1: { isStopped: true } } } },
      },
      { isStopped: false },
    ],
  }
  it.each(Object.entries(differing))(
    'that %s holds its node, as in Longhorn: the live one does not answer for it',
    (_, [fixture, more]) => {
      expect(gist(decideLonghornDrain(longhornFixture(fixture))).mayDrain).toBe('n1: yes')
      expect(gist(decideLonghornDrain(doubled(fixture, 'z', more))).mayDrain).toBe('n1: LastReplica')
    },
  )

  it('is not asked to leave, and counts neither as bytes to move nor as a reason to attach its volume', () => {
    const fixture: Fixture = {
      policy: 'block-for-eviction',
      nodes: cordoned,
      volumes: { v: { copies, state: 'detached' } },
    }
    const decision = decideLonghornDrain(doubled(fixture))
    expect([gist(decision).flags, decision.nodes[0]?.moves.map(({ bytes }) => bytes)]).toEqual([
      '+v-n1 EvictionAutomatic',
      [1000],
    ])
  })
})

function withReplica(seen: LonghornSnapshot, more: Partial<ReplicaView>): LonghornSnapshot {
  return { ...seen, replicas: [...seen.replicas, { ...(seen.replicas[0] as ReplicaView), ...more }] }
}
