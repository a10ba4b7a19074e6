import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { decideLonghornDrain } from './decide.ts'
import type { DrainPolicy, LonghornDrainSettings } from './snapshot.ts'
import { findIdleMoves, nextStuckMs, withStuckMoves } from './stuck-moves.ts'
import { type Fixture, longhornFixture, type NodeSetting } from './testing/longhorn-fixture.ts'

const flagged = { isEvictionRequested: true }
const all: DrainPolicy = 'block-for-eviction'
const lastMoves: DrainPolicy = 'block-for-eviction-if-contains-last-replica'
/** Cordoned, and the policy in force, for so long. */
const longAgo = -3_600_000
const cordoned: NodeSetting = { isCordoned: true, cordonedSinceMs: longAgo }
const pair = { copies: { n1: 'healthy', n2: 'healthy' } } as const

interface Scene extends Partial<Fixture> {
  readonly n1?: NodeSetting
  readonly n2?: NodeSetting
  readonly settings?: Partial<LonghornDrainSettings>
}

function look({ n1 = {}, n2 = {}, settings = {}, ...fixture }: Scene, nowMs = 0) {
  const nodes = { n1: { ...cordoned, ...n1 }, n2, n3: {} }
  const seen = longhornFixture({ policy: all, nodes, volumes: { db: pair }, ...fixture })
  const of = { mode: 'observe' as const, inForceSinceMs: longAgo, ...settings }
  const snapshot = { ...seen, nowMs, settings: { ...seen.settings, ...of } }
  return { snapshot, decision: decideLonghornDrain(snapshot) }
}

/** What stands still: `replica/db-n1 not-begun since -3600000`. */
function idle(scene: Scene): readonly string[] {
  const { snapshot, decision } = look(scene)
  return findIdleMoves(snapshot, decision).map(({ object, state, sinceMs }) => `${object} ${state} since ${sinceMs}`)
}

/** What is said in the end of each thing that holds the node. */
function told(scene: Scene, nowMs = 0): readonly string[] {
  const { snapshot, decision } = look(scene, nowMs)
  return withStuckMoves(snapshot, decision).nodes[0]?.blockers.map(({ reason }) => reason) ?? []
}

describe('a move stands still', () => {
  const rows: Record<string, [Scene, readonly string[]]> = {
    'that Longhorn has not begun, since the node is cordoned and the policy in force': [
      { n1: { cordonedSinceMs: -5000 } },
      ['replica/db-n1 not-begun since -5000'],
    ],
    'that Longhorn has not begun, since the policy is in force': [
      { settings: { inForceSinceMs: -4000 } },
      ['replica/db-n1 not-begun since -4000'],
    ],
    'since nobody knows when, where the time of the cordon is not known': [
      { nodes: { n1: { isCordoned: true }, n2: {} } },
      ['replica/db-n1 not-begun since undefined'],
    ],
    'since nobody knows when, where a user asked for the node': [
      { n1: { isEvictionAsked: true } },
      ['replica/db-n1 not-begun since undefined'],
    ],
    'also a last copy, since there is no other': [
      { policy: lastMoves, volumes: { db: { copies: { n1: 'healthy' } } } },
      [`replica/db-n1 not-begun since ${longAgo}`],
    ],
    'also a last copy, since the other failed': [
      {
        policy: lastMoves,
        volumes: { db: { copies: { n1: 'healthy', n2: { is: 'failed', failedAt: '1969-12-31T23:59:53Z' } } } },
      },
      ['replica/db-n1 not-begun since -7000'],
    ],
    'also a last copy, since nobody knows when where the other is rebuilt': [
      { policy: lastMoves, volumes: { db: { copies: { n1: 'healthy', n2: 'rebuilding' } } } },
      ['replica/db-n1 not-begun since undefined'],
    ],
    'also of the copies on two cordoned nodes, since the second is': [
      { policy: lastMoves, n2: { isCordoned: true, cordonedSinceMs: -3000 } },
      ['replica/db-n1 not-begun since -3000', 'replica/db-n2 not-begun since -3000'],
    ],
    'not for Longhorn that takes a copy for protection which is none here': [
      { policy: lastMoves, n2: { kubernetes: 'silent' } },
      [],
    ],
    'not under a policy that only a guide wants, and that is not in force yet': [
      { settings: { mode: 'guide', inForce: known('block-if-contains-last-replica') } },
      [],
    ],
    'not where only a policy of the volume wants it': [
      {
        policy: 'block-if-contains-last-replica',
        settings: { mode: 'guide' },
        volumes: { db: { ...pair, policy: all } },
      },
      [],
    ],
    'not on a node that does not answer, where Longhorn gives moves up': [{ n1: { kubernetes: 'silent' } }, []],
    'that has begun and has no copy, since moves off the node were noted': [
      { n1: { moving: { sinceMs: -8000, bytes: 1 } }, volumes: { db: { copies: { n1: flagged, n2: 'healthy' } } } },
      ['replica/db-n1 waiting since -8000'],
    ],
    'that has begun and has no copy, since nobody knows when where nobody noted it': [
      { volumes: { db: { copies: { n1: flagged, n2: 'healthy' } } } },
      ['replica/db-n1 waiting since undefined'],
    ],
    'that waits for a volume to be attached, since nobody knows when: it may have been attached a moment ago': [
      {
        n1: { moving: { sinceMs: -8000, bytes: 1 } },
        volumes: { db: { copies: { n1: flagged, n2: 'healthy' }, state: 'detached' } },
      },
      ['replica/db-n1 waiting since undefined'],
    ],
    'not one that waits for a place, which is named': [
      { volumes: { db: { copies: { n1: flagged, n2: 'healthy' }, schedulingProblem: 'no disk has room' } } },
      [],
    ],
    'not one that waits for a migration': [
      { volumes: { db: { copies: { n1: flagged, n2: 'healthy' }, changing: 'it migrates to node n3' } } },
      [],
    ],
    'not one that is being copied': [
      { volumes: { db: { copies: { n1: flagged, n2: 'healthy', n3: 'rebuilding' }, numberOfReplicas: 2 } } },
      [],
    ],
    'not a strict-local one, of which no move is expected': [
      { volumes: { db: { copies: { n1: 'healthy' }, isStrictLocal: true } } },
      [],
    ],
  }
  it.each(Object.entries(rows))('%s', (_, [scene, expected]) => {
    expect(idle(scene)).toEqual(expected)
  })
})

describe('a move that stands still', () => {
  it('is given a minute, and is called stuck then: it was called "being copied" for two minutes of an error in Longhorn', () => {
    const scene = { n1: { cordonedSinceMs: 0 } }
    expect([told(scene, 59_000), told(scene, 60_000)]).toEqual([['ReplicaMustLeave'], ['LonghornStuck']])
  })

  it('is never called stuck where nobody knows since when', () => {
    expect(told({ nodes: { n1: { isCordoned: true }, n2: {} } }, 3_600_000)).toEqual(['ReplicaMustLeave'])
  })

  it('on an open node whose drain is rehearsed is not late', () => {
    const { snapshot, decision } = look({})
    expect(withStuckMoves(snapshot, decision, 'n1')).toBe(decision)
  })

  const causes: Record<string, [Scene, string, string]> = {
    'names the manager that is away on that very node': [
      { n1: { managerPod: 'away' } },
      'Replica db-n1 of volume db must leave node n1, and Longhorn does not request its eviction: no longhorn-manager pod is ready on that node, and no other one does it there.',
      'No longhorn-manager pod is ready on node n1, and no other one requests evictions there: start it.',
    ],
    'names a disk that the node does not have any more': [
      { n1: { disks: [] } },
      'Replica db-n1 of volume db must leave node n1, and Longhorn does not request its eviction: its disk disk-n1 is not among the disks of node n1, and Longhorn goes through those alone.',
      "Correct spec.disks of Longhorn's node n1, or delete the replica in Longhorn if another copy is whole.",
    ],
    'names a copy on a node that is gone, on which Longhorn stops checking': [
      {
        policy: lastMoves,
        volumes: {
          db: { copies: { n1: 'healthy' } },
          other: { copies: { n1: 'healthy', n2: 'healthy', n9: 'healthy' } },
        },
      },
      'Replica db-n1 of volume db must leave node n1, and Longhorn does not request its eviction: replica other-n9 of volume other is on node n9, which Kubernetes no longer has, and Longhorn stops checking there.',
      'Delete replica other-n9 in Longhorn, or node n9 if it does not come back.',
    ],
    'says whose log to read where no cause is seen': [
      { n1: { managerPod: 'ready' } },
      'Replica db-n1 of volume db must leave node n1, and Longhorn does not request its eviction.',
      'See what the longhorn-manager pod on node n1 logs: one replica that it cannot handle stops all of the node.',
    ],
    'says whose log to read where the copy is not made': [
      {
        n1: { moving: { sinceMs: longAgo, bytes: 1 } },
        volumes: { db: { copies: { n1: flagged, n2: 'healthy' }, ownedBy: 'n3' } },
      },
      'Replica db-n1 of volume db is to leave node n1, and is not being copied: Longhorn has made no copy yet. Longhorn does not go on with it.',
      'See what longhorn-manager on node n3 logs about volume db, and whether its pod is ready.',
    ],
  }
  it.each(Object.entries(causes))('%s', (_, [scene, explanation, wayOut]) => {
    const { snapshot, decision } = look(scene)
    const [answer] = withStuckMoves(snapshot, decision).nodes
    const found = answer?.blockers.find(({ object }) => object === 'replica/db-n1')
    expect(found).toEqual({ object: 'replica/db-n1', volume: 'db', reason: 'LonghornStuck', explanation, wayOut })
    expect(answer?.reason).toBe('LonghornStuck')
  })
})

describe('when the next move is called stuck', () => {
  const next = (scene: Scene) => {
    const { snapshot, decision } = look(scene)
    return nextStuckMs(snapshot, decision)
  }
  it.each<[string, Scene, number | undefined]>([
    ['is told ahead, so that it is not reported late', { n1: { cordonedSinceMs: -5_000 } }, 55_000],
    ['is not told of one that is stuck already', {}, undefined],
    ['is not told where since when is not known', { nodes: { n1: { isCordoned: true }, n2: {} } }, undefined],
    ['is never, where nothing stands still', { volumes: {} }, undefined],
  ])('%s', (_, scene, then) => {
    expect(next(scene)).toBe(then)
  })

  it('all that holds the node is counted, and nodes that nothing holds are left as they are', () => {
    const two = { db: pair, web: pair }
    const { snapshot, decision } = look({ volumes: two })
    const [stuck, open] = withStuckMoves(snapshot, decision).nodes
    expect([stuck?.explanation.endsWith(' And 1 more.'), open]).toEqual([true, decision.nodes[1]])
  })
})

it('only what stands still is called stuck: other replicas and other nodes keep their own words', () => {
  const { snapshot, decision } = look({
    n2: cordoned,
    volumes: {
      db: { copies: { n1: 'healthy', n3: 'healthy' } },
      web: { copies: { n1: { isEvictionRequested: true }, n3: 'rebuilding' }, numberOfReplicas: 1 },
      log: { copies: { n2: flagged, n3: 'rebuilding' }, numberOfReplicas: 1 },
    },
  })
  const reasons = (of: typeof decision) => of.nodes.map(({ blockers }) => blockers.map(({ reason }) => reason).sort())
  const [n1, n2] = reasons(withStuckMoves(snapshot, decision))
  expect(n1).toContain('LonghornStuck')
  expect(n1?.filter((reason) => reason !== 'LonghornStuck')).not.toEqual([])
  expect(n2).toEqual(reasons(decision)[1])
})

it('a move of a volume that is not known says where to search without naming a node', () => {
  const { snapshot } = look({ volumes: { db: { copies: { n1: flagged, n2: 'healthy' } } } })
  const unknownVolume = { ...snapshot, volumes: [] }
  const moves = findIdleMoves(unknownVolume, decideLonghornDrain(unknownVolume))
  expect(moves.map(({ stuck }) => stuck.wayOut)).toEqual([
    'See what longhorn-manager logs about volume db, and whether its pod is ready.',
  ])
})
