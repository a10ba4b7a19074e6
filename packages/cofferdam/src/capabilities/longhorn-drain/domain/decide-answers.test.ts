import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { type Fixture, longhornFixture, managerView } from './testing/longhorn-fixture.ts'

const cordoned = { isCordoned: true }

function decide(fixture: Fixture) {
  return decideLonghornDrain(longhornFixture(fixture))
}

describe('what holds a node is told with the replica, the volume, its user, what is missing and the way out', () => {
  it('for an engine: who attached the volume', () => {
    const { nodes } = decide({
      nodes: { n1: { ...cordoned, manager: { engines: ['db'] } }, n2: {} },
      volumes: { db: { copies: { n2: 'healthy' }, attachedBy: 'pod shop/db-0', attachedTo: 'n1' } },
    })
    expect(nodes).toEqual([
      {
        node: 'n1',
        mayDrain: false,
        reason: 'VolumeAttached',
        explanation: 'Volume db is attached to node n1 by pod shop/db-0.',
        moves: [],
        bytesLeft: 0,
        blockers: [
          {
            object: 'volume/db',
            volume: 'db',
            reason: 'VolumeAttached',
            explanation: 'Volume db is attached to node n1 by pod shop/db-0.',
            wayOut: 'It goes when pod shop/db-0 has left the node.',
          },
        ],
      },
    ])
  })

  it('for an engine that nobody owns: how to detach it', () => {
    const { nodes } = decide({ nodes: { n1: { ...cordoned, manager: { engines: ['lost'] } } } })
    expect(nodes[0]?.blockers.map(({ explanation, wayOut }) => [explanation, wayOut])).toEqual([
      [
        'Volume lost is attached to node n1 by an unknown client.',
        "Detach volume lost; Longhorn's setting detach-manually-attached-volumes-when-cordoned does so by itself.",
      ],
    ])
  })

  it('for an engine that is there for a move: who attached it, and what ends that', () => {
    const said = (tickets: readonly { readonly id: string; readonly type: string; readonly node: string }[]) =>
      decide({
        nodes: { n1: { ...cordoned, manager: { engines: ['db'] } }, n2: {} },
        volumes: { db: { copies: { n2: 'healthy' }, attachedBy: 'somebody', tickets } },
      }).nodes[0]?.blockers.map(({ wayOut }) => wayOut)
    const ticket = { type: 'volume-eviction-controller', node: 'n1' }
    expect(said([{ ...ticket, id: 'volume-eviction-controller-db' }])).toEqual([
      'Longhorn detaches it when no replica of it has to move any more.',
    ])
    expect(said([{ ...ticket, id: 'cofferdam-eviction-db' }])).toEqual([
      'Remove the ticket, as Cofferdam does itself in the modes guide and hold: kubectl -n longhorn-system patch volumeattachments.longhorn.io db --type merge -p \'{"spec":{"attachmentTickets":{"cofferdam-eviction-db":null}}}\'',
    ])
  })

  it("for a replica that finds no place: Longhorn's words, what each node lacks, and what makes room", () => {
    const { nodes } = decide({
      policy: 'block-for-eviction',
      nodes: { n1: cordoned, n2: {} },
      volumes: {
        db: {
          copies: { n1: { isEvictionRequested: true }, n2: 'healthy' },
          schedulingProblem: 'ReplicaSchedulingFailure: insufficient storage',
        },
      },
    })
    expect(nodes[0]?.blockers).toEqual([
      {
        object: 'replica/db-n1',
        volume: 'db',
        reason: 'NoPlaceForReplica',
        explanation:
          'Replica db-n1 of volume db is to leave node n1, but no node takes another copy: ReplicaSchedulingFailure: insufficient storage (n1 is to be drained, n2 has a copy already).',
        wayOut:
          'Add a node or a disk, free space, let copies share a node (replica-soft-anti-affinity), correct node and disk tags, or uncordon the node.',
      },
    ])
  })

  it('what is left to move does not grow again while a replica that was copied waits to be deleted', () => {
    const left = (more: object) =>
      decide({
        policy: 'block-for-eviction',
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: {}, n3: {} },
        volumes: {
          db: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' }, numberOfReplicas: 2, ...more },
        },
      }).nodes[0]?.bytesLeft
    const moved = { n1: { isEvictionRequested: true }, n2: 'healthy', n3: 'healthy' }
    expect([left({}), left({ rebuiltShare: 0.75 }), left({ copies: moved })]).toEqual([1000, 250, 0])
  })

  it('for a last copy: what is wrong with each of the others', () => {
    const { nodes } = decide({
      nodes: { n1: cordoned, n2: {}, n3: cordoned, n4: {}, n5: {} },
      volumes: {
        db: {
          copies: { n1: 'healthy', n2: 'failed', n3: 'healthy', n4: 'rebuilding', n5: { isBeingDeleted: true } },
          attachedBy: 'pod shop/db-0',
          attachedTo: 'n2',
        },
      },
    })
    expect(nodes[0]?.explanation).toBe(
      'Replica db-n1 is the last protected copy of volume db (attached by pod shop/db-0 on n2): db-n2 on n2 has failed, db-n3 on n3 is on a cordoned node, db-n4 on n4 is not complete yet, 1 more.',
    )
  })

  it('for a last copy: that only a taint closes the node of another, on which nobody would find a cordon', () => {
    const taint = { key: 'karpenter.sh/disrupted', tool: 'Karpenter' }
    const tainted = { isCordoned: true, closing: { isCordoned: false, taint, unreadable: undefined } }
    const both = { isCordoned: true, closing: { isCordoned: true, taint, unreadable: undefined } }
    const { nodes } = decide({
      nodes: { n1: cordoned, n2: tainted, n3: both },
      volumes: { db: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } } },
    })
    expect(nodes[0]?.explanation).toBe(
      'Replica db-n1 is the last protected copy of volume db: db-n2 on n2 is on a node closed by taint karpenter.sh/disrupted (Karpenter), db-n3 on n3 is on a cordoned node.',
    )
  })

  it('for what moves: which copy is built and how far it is, and how many bytes are left of what has begun', () => {
    const flagged = { isEvictionRequested: true }
    const { nodes } = decide({
      policy: 'block-for-eviction',
      nodes: { n1: cordoned, n2: {} },
      volumes: {
        a: { copies: { n1: flagged, n2: 'rebuilding' }, numberOfReplicas: 1, actualBytes: 4000, rebuiltShare: 0.25 },
        b: { copies: { n1: flagged, n2: 'healthy' }, numberOfReplicas: 2, actualBytes: 500 },
        c: { copies: { n1: 'healthy', n2: 'healthy' }, actualBytes: 90 },
        bound: { copies: { n1: 'healthy' }, actualBytes: 7000, isStrictLocal: true },
      },
    })
    expect(
      nodes.map(({ bytesLeft, reason, explanation, moves }) => ({ bytesLeft, reason, explanation, moves })),
    ).toEqual([
      {
        bytesLeft: 3500,
        reason: 'ReplicaMoving',
        explanation: 'Replica a-n1 of volume a is being copied off node n1: a-n2 on n2 is rebuilt to 25 %. And 3 more.',
        moves: [
          { replica: 'a-n1', volume: 'a', bytes: 3000, state: 'copying' },
          { replica: 'b-n1', volume: 'b', bytes: 500, state: 'waiting' },
          { replica: 'c-n1', volume: 'c', bytes: 90, state: 'not-begun' },
        ],
      },
    ])
  })

  it('for a strict-local volume: that it never moves, and which label lets the node go', () => {
    const { nodes } = decide({
      policy: 'block-for-eviction',
      nodes: { n1: cordoned },
      volumes: { local: { copies: { n1: 'healthy' }, isStrictLocal: true } },
    })
    expect(nodes[0]?.blockers).toEqual([
      {
        object: 'replica/local-n1',
        volume: 'local',
        reason: 'StrictLocalReplica',
        explanation: 'Replica local-n1 of volume local is bound to node n1 by strict-local and never moves.',
        wayOut:
          'Label the volume cofferdam.io/node-drain-policy=allow-if-replica-is-stopped and stop its workload, or =always-allow, or give it another data locality.',
      },
    ])
  })

  it('a node that is drained before its cordon is told what will happen', () => {
    const { nodes, budgets } = decide({ nodes: { n1: { isDraining: true } } })
    expect([nodes[0]?.mayDrain, nodes[0]?.explanation, budgets[0]?.wanted]).toEqual([
      true,
      'Nothing on the node holds it; its budgets go when it is cordoned.',
      'present',
    ])
  })
})

describe('budgets', () => {
  it('of an instance manager that does not run, or whose node is gone, stay as they are', () => {
    const { budgets } = decide({
      nodes: { n1: { manager: { isRunning: false } }, n2: { kubernetes: 'absent' } },
      managers: [managerView('n9')],
    })
    expect(budgets.map(({ instanceManager, wanted, reason }) => [instanceManager, wanted, reason])).toEqual([
      ['im-n1', 'leave', 'InstanceManagerAway'],
      ['im-n2', 'leave', 'NodeUnknown'],
      ['im-n9', 'leave', 'NodeUnknown'],
    ])
  })
})

describe('copies that a cancelled eviction left over', () => {
  const copies = {
    n1: { healthyAt: '2026-01-01T00:00:00Z' },
    n2: { healthyAt: '2026-01-03T00:00:00Z' },
    n3: { healthyAt: '2026-01-02T00:00:00Z' },
  }
  const nodes = { n1: {}, n2: {}, n3: {} }
  const table: Readonly<Record<string, readonly [Fixture, readonly string[]]>> = {
    'the youngest goes where the settings say so': [
      { surplus: 'remove', nodes, volumes: { v: { copies, numberOfReplicas: 2 } } },
      ['v-n2'],
    ],
    'all stay where the settings say so': [
      { surplus: 'keep', nodes, volumes: { v: { copies, numberOfReplicas: 2 } } },
      [],
    ],
    'the one beside the engine stays, and the next goes': [
      { surplus: 'remove', nodes, volumes: { v: { copies, numberOfReplicas: 2, attachedTo: 'n2' } } },
      ['v-n3'],
    ],
    'none goes while a node with a copy is cordoned': [
      { surplus: 'remove', nodes: { ...nodes, n1: cordoned }, volumes: { v: { copies, numberOfReplicas: 2 } } },
      [],
    ],
    'none goes while the volume is degraded': [
      { surplus: 'remove', nodes, volumes: { v: { copies, numberOfReplicas: 2, robustness: 'degraded' } } },
      [],
    ],
    'none goes on the strength of a copy that no budget holds': [
      {
        surplus: 'remove',
        nodes: { ...nodes, n3: { hasBudget: false } },
        volumes: { v: { copies, numberOfReplicas: 2 } },
      },
      [],
    ],
    'none goes while one is stopped: the copies that stay might be those whose nodes may go with them': [
      {
        surplus: 'remove',
        nodes,
        volumes: { v: { copies: { ...copies, n1: { ...copies.n1, isStopped: true } }, numberOfReplicas: 2 } },
      },
      [],
    ],
    'none goes from a volume that wants none at all, for that cannot be meant': [
      { surplus: 'remove', nodes, volumes: { v: { copies, numberOfReplicas: 0 } } },
      [],
    ],
  }
  it.each(Object.entries(table))('%s', (_, [fixture, expected]) => {
    expect(decide(fixture).surplusReplicas).toEqual(expected)
  })

  it('what goes protects nothing any more: an autoscaled cluster keeps the budgets of the others', () => {
    const { surplusReplicas, budgets } = decide({
      surplus: 'remove',
      isAutoscaled: true,
      nodes: { n1: {}, n2: {} },
      volumes: { v: { copies: { n1: copies.n1, n2: copies.n2 }, numberOfReplicas: 1 } },
    })
    expect(surplusReplicas).toEqual(['v-n2'])
    expect(budgets.find(({ node }) => node === 'n1')?.wanted).toBe('present')
  })
})

it('what is wrong is told: the setting, labels, unreadable objects, replicas without a node', () => {
  const { problems } = decide({
    policy: undefined,
    nodes: { n1: {}, n2: { kubernetes: 'absent' } },
    volumes: {
      v: { copies: { n1: 'healthy', '': 'healthy', n2: 'healthy', n9: 'healthy' }, policy: 'never' },
      w: { copies: { '': 'unused' } },
    },
    unreadable: [{ object: 'volume/x', why: 'spec is not an object' }],
  })
  expect(problems.map(({ object, problem }) => `${object}: ${problem}`)).toEqual([
    'replica/v-: it has data but no node, and protects nothing',
    'replica/v-n2: its node n2 is gone, so it protects nothing',
    'replica/v-n9: its node n9 is gone, so it protects nothing',
    'setting/node-drain-policy: it is not set; until it is corrected no replica starts to move, and no node with replicas is let go',
    'volume/v: its drain policy: "never" is none of block-if-contains-last-replica, allow-if-replica-is-stopped, always-allow, block-for-eviction, block-for-eviction-if-contains-last-replica; until it is corrected it does not start to move, and holds the nodes of its replicas',
    'volume/x: spec is not an object',
  ])
})
