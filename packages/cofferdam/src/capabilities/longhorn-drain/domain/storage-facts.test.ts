import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { decideLonghornDrain } from './decide.ts'
import { createLeavingDecider } from './decide-leaving.ts'
import { longhornConcern } from './longhorn-concern.ts'
import {
  indexLonghornStorage,
  longhornStorageFacts,
  longhornStorageKey,
  unknownLonghornStorage,
} from './storage-facts.ts'
import { type Fixture, longhornFixture, managerView } from './testing/longhorn-fixture.ts'

const open = { n1: {}, n2: {}, n3: {} }
const bare = { n1: { hasBudget: false }, n2: { hasBudget: false }, n3: { hasBudget: false } }
const away = { kubernetes: 'silent', isCordoned: true, manager: { isRunning: false } } as const
const lastHere = { nodes: { ...open, n2: away }, volumes: { db: { copies: { n1: 'healthy', n2: 'failed' } } } } as const
const alone = { copies: { n1: 'healthy' } } as const
const failed = { robustness: 'degraded', copies: { n1: 'failed', n2: 'healthy' } } as const
const leaving = { isCordoned: true, isDraining: true }
const heldSinceMs = Date.parse('2026-01-01T12:00:00Z')

function facts(fixture: Fixture, since?: number) {
  const seen = longhornFixture(fixture)
  const snapshot = { ...seen, settings: { ...seen.settings, mode: fixture.mode ?? 'hold' } }
  return longhornStorageFacts({ snapshot, node: 'n1', heldSinceMs: since, decide: createLeavingDecider() })
}

describe('a node with data of Longhorn may begin to leave', () => {
  const rows: Record<string, { readonly given: Fixture; readonly then: string }> = {
    'when every volume has a protected copy elsewhere: Longhorn lets it go once it is cordoned': {
      given: { nodes: open, volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } } },
      then: 'yes',
    },
    'when its replicas move: they do so only after the cordon, so nobody waits for them before': {
      given: {
        policy: 'block-for-eviction',
        nodes: open,
        volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      then: 'yes, behind ReplicaMustLeave',
    },
    'when the policy moves its last copy away': {
      given: { policy: 'block-for-eviction-if-contains-last-replica', nodes: open, volumes: { db: alone } },
      then: 'yes, behind ReplicaMustLeave',
    },
    'not when it has the only copy and the policy would leave it there': {
      given: { nodes: open, volumes: { db: alone } },
      then: 'no, behind LastReplica',
    },
    'not when it has a linked clone that never moves: it would be away, and others wait, for nothing': {
      given: {
        policy: 'block-for-eviction',
        nodes: open,
        volumes: { clone: { copies: { n1: 'healthy' }, boundClone: 'it is a linked clone' } },
      },
      then: 'no, behind LinkedCloneReplica',
    },
    'not while the node of the other copy is away: its own drain could never end': {
      given: lastHere,
      then: 'no, behind LastReplica',
    },
    'not while the other copy is still being rebuilt': {
      given: { nodes: open, volumes: { db: { copies: { n1: 'healthy', n2: 'rebuilding' } } } },
      then: 'no, behind LastReplica',
    },
    'even so where a user asked for the node to be emptied: then it moves': {
      given: { nodes: { ...open, n1: { isEvictionAsked: true } }, volumes: { db: alone } },
      then: 'yes, behind ReplicaMustLeave',
    },
    'where a last copy holds only while it runs: it may stop when its pods have left': {
      given: { policy: 'allow-if-replica-is-stopped', nodes: open, volumes: { db: alone } },
      then: 'yes, behind LastReplica',
    },
    'not where such a copy is used from another node: no drain of this one stops it, and it would hold all storage meanwhile':
      {
        given: {
          policy: 'allow-if-replica-is-stopped',
          nodes: open,
          volumes: { db: { ...alone, attachedTo: 'n2' } },
        },
        then: 'no, behind LastReplica',
      },
    'where such a copy is used from the node itself': {
      given: {
        policy: 'allow-if-replica-is-stopped',
        nodes: open,
        volumes: { db: { ...alone, attachedTo: 'n1' } },
      },
      then: 'yes, behind LastReplica',
    },
    'when the budget that protects the other copy is made only once it is cordoned, as where nodes come and go': {
      given: { isAutoscaled: true, nodes: bare, volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } } },
      then: 'yes',
    },
    'not where such a budget would protect nothing whole': {
      given: { isAutoscaled: true, nodes: bare, volumes: { db: { copies: { n1: 'healthy', n2: 'rebuilding' } } } },
      then: 'no',
    },
    'not while nobody protects the other copy and Longhorn should': {
      given: { mode: 'observe', nodes: bare, volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } } },
      then: 'no',
    },
    'under always-allow, whatever it has': {
      given: { policy: 'always-allow', nodes: open, volumes: { db: alone } },
      then: 'yes',
    },
    'when engines run on it: they leave with their pods': {
      given: {
        nodes: { ...open, n1: { manager: { engines: ['db'] } } },
        volumes: { db: { copies: { n2: 'healthy' } } },
      },
      then: 'yes, behind VolumeAttached',
    },
    'not with a volume that is bound to it': {
      given: { policy: 'block-for-eviction', nodes: open, volumes: { db: { ...alone, isStrictLocal: true } } },
      then: 'no, behind StrictLocalReplica',
    },
    'not while the policy is none of the known ones and it has a last copy': {
      given: { policy: 'nonsense', nodes: open, volumes: { db: alone, web: alone } },
      then: 'no, behind DrainPolicyUnknown DrainPolicyUnknown',
    },
    'is not known while a replica on it cannot be read': {
      given: {
        nodes: open,
        volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } },
        unreadable: [{ object: 'replica/x', why: 'spec.nodeID is no text', node: 'n1' }],
      },
      then: 'unknown: replica/x cannot be read: spec.nodeID is no text',
    },
    'when Longhorn has no such node: nothing relies on it': {
      given: { nodes: { n2: {} }, volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } } },
      then: 'yes',
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    const { mayGo, holds = [] } = facts(given)
    const behind = holds.length === 0 ? '' : `, behind ${holds.map(({ reason }) => reason).join(' ')}`
    expect(mayGo.known ? `${mayGo.value.allowed ? 'yes' : 'no'}${behind}` : `unknown: ${mayGo.why}`).toBe(then)
  })
})

it('says of a node that may not begin what holds it, what would help, and how much more there is', () => {
  const fixture: Fixture = { nodes: open, volumes: { db: alone, web: alone } }
  const [first] =
    decideLonghornDrain(longhornFixture({ ...fixture, nodes: { ...open, n1: leaving } })).nodes[0]?.blockers ?? []
  expect(facts(fixture).mayGo).toEqual({
    known: true,
    value: { allowed: false, explanation: `${first?.explanation} ${first?.wayOut} And 1 more.`, lasts: true },
  })
})

describe('a node that is back is clean', () => {
  const rows: Record<string, { readonly given: Fixture; readonly since?: number; readonly then: string }> = {
    'when all of its copies are whole': {
      given: { nodes: open, volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } } },
      then: 'clean',
    },
    'when its copies are gone': {
      given: { nodes: open, volumes: { db: { robustness: 'degraded', copies: { n2: 'healthy' } } } },
      then: 'clean',
    },
    'not while a copy that went with it has failed': {
      given: { nodes: open, volumes: { db: failed } },
      since: heldSinceMs,
      then: 'Replica db-n1 of volume db on node n1 is not whole again. It is when Longhorn has rebuilt it, there or elsewhere.',
    },
    'not while copies are being rebuilt on it': {
      given: {
        nodes: open,
        volumes: {
          db: { robustness: 'degraded', copies: { n1: 'rebuilding', n2: 'healthy' } },
          web: { robustness: 'degraded', copies: { n1: 'rebuilding', n3: 'healthy' } },
        },
      },
      then: 'Replica db-n1 of volume db on node n1 is not whole again. And 1 more. It is when Longhorn has rebuilt it, there or elsewhere.',
    },
    'not while it is cordoned and has a failed copy: nothing is rebuilt there': {
      given: { nodes: { ...open, n1: { isCordoned: true } }, volumes: { db: failed } },
      then: 'Replica db-n1 of volume db on node n1 is not whole again. It is rebuilt when the node is uncordoned.',
    },
    'though a copy failed before anybody took the node: that was somebody else': {
      given: { nodes: open, volumes: { db: failed } },
      since: Date.parse('2026-01-03T00:00:00Z'),
      then: 'clean',
    },
    'though the volume lacks a copy on another node': {
      given: { nodes: open, volumes: { db: { robustness: 'degraded', copies: { n1: 'healthy', n2: 'failed' } } } },
      then: 'clean',
    },
    'though a copy of a detached volume has failed: it is rebuilt when somebody attaches it': {
      given: { nodes: open, volumes: { db: { ...failed, state: 'detached' } } },
      then: 'clean',
    },
    'though a copy of a faulted volume has failed: there is nothing to rebuild it from': {
      given: { nodes: open, volumes: { db: { ...failed, robustness: 'faulted' } } },
      then: 'clean',
    },
    'though a copy of a bound volume has failed: it has no other': {
      given: { nodes: open, volumes: { db: { ...failed, isStrictLocal: true } } },
      then: 'clean',
    },
    'though a failed copy is left over of a volume that has all it wants': {
      given: { nodes: open, volumes: { db: { ...failed, robustness: 'healthy' } } },
      then: 'clean',
    },
    'though a failed copy is being deleted': {
      given: { nodes: open, volumes: { db: { ...failed, copies: { n1: { is: 'failed', isBeingDeleted: true } } } } },
      then: 'clean',
    },
    'when it is gone for good and nothing is rebuilt for it': {
      given: { nodes: { ...open, n1: { kubernetes: 'absent' } }, volumes: { db: failed } },
      then: 'clean',
    },
    'not while a copy is rebuilt elsewhere for one that is gone with it': {
      given: {
        nodes: { ...open, n1: { kubernetes: 'absent' } },
        volumes: { db: { robustness: 'degraded', copies: { n1: 'failed', n2: 'healthy', n3: 'rebuilding' } } },
      },
      then: 'Replica db-n1 of volume db on node n1 is not whole again. It is when Longhorn has rebuilt it, there or elsewhere.',
    },
    'is not known while the volume of a copy cannot be read': {
      given: {
        nodes: open,
        volumes: { db: { copies: { n1: 'healthy' } } },
        unreadable: [{ object: 'volume/db', why: 'spec is missing' }],
      },
      then: 'unknown: volume/db cannot be read: spec is missing',
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { given, since, then }) => {
    const { isClean, awaited } = facts(given, since)
    expect(isClean.known ? (isClean.value ? 'clean' : awaited) : `unknown: ${isClean.why}`).toBe(then)
  })
})

it('tells what holds the budgets of the node, behind each of them', () => {
  const { key, failureDomain, holds } = facts({
    policy: 'block-for-eviction',
    nodes: open,
    volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } },
    managers: [managerView('n1', { name: 'im-n1-old' })],
  })
  expect({ key, failureDomain, holds }).toEqual({
    key: 'storage/longhorn-system/longhorn',
    failureDomain: 'n1',
    holds: [
      {
        budgets: ['pdb/longhorn-system/im-n1'],
        object: 'replica/db-n1',
        reason: 'ReplicaMustLeave',
        wayOut: expect.stringContaining('db-n1'),
      },
    ],
  })
})

it('a node that nothing holds and that Longhorn keeps by a policy of another client says so: the request named a number of pods (short seed 705253)', () => {
  const seen = longhornFixture({ nodes: { ...open, n1: leaving }, volumes: { db: alone } })
  const holdsUnder = (more: Partial<typeof seen.settings>) => {
    const snapshot = { ...seen, settings: { ...seen.settings, mode: 'hold' as const, ...more } }
    return longhornStorageFacts({ snapshot, node: 'n1', heldSinceMs: undefined, decide: createLeavingDecider() }).holds
  }
  const yielded = { policy: known('always-allow' as const), isYielded: true as const }
  expect(holdsUnder(yielded)).toEqual([
    {
      budgets: ['pdb/longhorn-system/im-n1'],
      object: 'replica/db-n1',
      reason: 'LonghornStuck',
      wayOut:
        'Nothing should hold node n1, but Longhorn goes by node-drain-policy alone, and under block-if-contains-last-replica replica db-n1 of volume db holds it. Another client has set it while a node was drained: set always-allow, or move the replica.',
    },
  ])
  expect(holdsUnder({ policy: yielded.policy })).toEqual([])
})

describe('a last copy on a node that Longhorn has let go, which runs again since its volume is used elsewhere', () => {
  const used = { db: { ...alone, attachedTo: 'n2' } }
  const given = (n1: object, more: Partial<Fixture> = {}): Fixture => ({
    mode: 'guide',
    policy: 'allow-if-replica-is-stopped',
    volumes: used,
    ...more,
    nodes: { ...open, n1: { ...leaving, ...n1 } },
  })
  const kept = (fixture: Fixture) => (facts(fixture).holds ?? []).flatMap(({ pods = [] }) => pods)

  it('keeps its instance manager, or the drain would take the last copy: no budget is made for a cordoned node (short seed 706246)', () => {
    const { holds } = facts(given({ hasBudget: false }))
    expect(holds).toMatchObject([{ budgets: [], pods: ['longhorn-system/im-n1'], reason: 'LastReplica' }])
  })

  it('keeps it also where the policy moves that copy, until it has moved', () => {
    const moving = given({ hasBudget: false }, { policy: 'block-for-eviction-if-contains-last-replica' })
    expect(kept(moving)).toEqual(['longhorn-system/im-n1'])
  })

  it('keeps no manager that has a budget, that does not run, that has engines only, or whose node is open', () => {
    expect(kept(given({}))).toEqual([])
    expect(kept(given({ hasBudget: false, manager: { isRunning: false } }))).toEqual([])
    expect(kept(given({ hasBudget: false, manager: { type: 'engine' } }))).toEqual([])
    expect(kept(given({ hasBudget: false, isCordoned: false }))).toEqual([])
  })

  it('keeps nothing under a policy that protects nothing, or where another copy is whole', () => {
    expect(kept(given({ hasBudget: false }, { policy: 'always-allow' }))).toEqual([])
    const two = { db: { copies: { n1: 'healthy', n2: 'healthy' }, attachedTo: 'n2' } } as const
    expect(kept(given({ hasBudget: false }, { volumes: two }))).toEqual([])
  })
})

it('the budgets that hold are those of the namespace where Longhorn is; the key is the same in all of them, or a hold would be lost while it is not known', () => {
  const scene: Fixture = {
    policy: 'block-for-eviction',
    nodes: open,
    volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } },
  }
  const snapshot = { ...longhornFixture(scene), namespace: 'storage' }
  const { key, holds } = longhornStorageFacts({
    snapshot,
    node: 'n1',
    heldSinceMs: undefined,
    decide: createLeavingDecider(),
  })
  expect([key, holds?.map(({ budgets }) => budgets)]).toEqual([longhornStorageKey, [['pdb/storage/im-n1']]])
})

it('a node without replicas and engines has nothing to do with Longhorn', () => {
  const snapshot = longhornFixture({
    nodes: { ...open, n3: { manager: { engines: ['db'] } } },
    volumes: { db: { copies: { n1: 'healthy' } } },
  })
  expect(['n1', 'n2', 'n3', 'n4'].filter((node) => longhornConcern(snapshot)(node) === 'has-data')).toEqual([
    'n1',
    'n3',
  ])
})

it('an empty node that takes copies may go, alone: what it holds keeps every node away whose copies it would take', () => {
  const snapshot = longhornFixture({
    policy: 'block-for-eviction',
    nodes: { n1: { takesReplicas: true }, n2: { takesReplicas: true } },
    volumes: { db: alone },
  })
  const facts = indexLonghornStorage(snapshot, createLeavingDecider())('n2')
  expect(facts).toMatchObject({
    key: longhornStorageKey,
    failureDomain: 'n2',
    mayGo: { known: true, value: { allowed: true } },
    isClean: { known: true, value: true },
    takesCopies: true,
  })
})

it('whoever could not look knows neither', () => {
  expect(unknownLonghornStorage('n1', 'forbidden')).toEqual({
    key: longhornStorageKey,
    uid: '',
    failureDomain: 'n1',
    mayGo: { known: false, why: 'forbidden' },
    isClean: { known: false, why: 'forbidden' },
  })
})

describe('one node after the other', () => {
  const snapshot = longhornFixture({ policy: 'always-allow', nodes: open, volumes: { db: alone } })
  const of = indexLonghornStorage(snapshot, createLeavingDecider())

  it('a node with data is judged, and one that has nothing to do with Longhorn waits for nobody', () => {
    expect([of('n1')?.failureDomain, of('n2')]).toEqual(['n1', undefined])
  })
})

it('a node that is held by a budget of ours names it', () => {
  const nodes = { ...bare, n1: { ...leaving, hasBudget: false, isHeld: true } }
  expect(facts({ nodes, volumes: { db: alone } }).holds?.flatMap(({ budgets }) => budgets)).toEqual([
    'pdb/longhorn-system/cofferdam-hold-im-n1',
  ])
})

it('copies on a node that Longhorn no longer knows are waited for only where they are built elsewhere', () => {
  const seen = longhornFixture({ nodes: open, volumes: { db: failed } })
  const snapshot = { ...seen, nodes: seen.nodes.filter(({ name }) => name !== 'n1') }
  const { isClean } = longhornStorageFacts({ snapshot, node: 'n1', heldSinceMs, decide: createLeavingDecider() })
  expect(isClean).toEqual({ known: true, value: true })
})
