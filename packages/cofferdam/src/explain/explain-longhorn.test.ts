import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import type { Fixture } from '../capabilities/longhorn-drain/domain/testing/longhorn-fixture.ts'
import { longhornLines } from '../capabilities/longhorn-drain/view/longhorn-text.ts'
import type { Attendance } from '../shared/attendance.ts'
import type { Blocker } from '../shared/blocker.ts'
import { explainBudget } from './explain-budget.ts'
import { explainNode } from './explain-node.ts'
import { explainPod } from './explain-pod.ts'
import type { NodeExplanation } from './explanation.ts'
import { instanceManager, longhornSeen } from './testing/longhorn-objects.ts'
import { node, now, pod } from './testing/sample-objects.ts'

const manager = instanceManager('n1')
const gib = 2 ** 30

interface Given extends Fixture {
  readonly pods?: readonly Pod[]
  readonly attendance?: Attendance
  /** The budget of the instance manager is not there, or not any more. */
  readonly isFree?: boolean
}

function explain({ pods = [], attendance, isFree = false, ...fixture }: Given): NodeExplanation {
  const isCordoned = fixture.nodes['n1']?.isCordoned === true
  return explainNode({
    node: node('n1', isCordoned ? { spec: { unschedulable: true } } : {}),
    pods: [manager.pod, ...pods],
    budgets: isFree ? [] : [manager.budget],
    storage: [],
    longhorn: longhornSeen(fixture, attendance),
    now,
  })
}

/** What a reader sees first, and every line about Longhorn. */
const told = ({ mayGo, pods, blockers, longhorn }: NodeExplanation) => ({
  mayGo,
  manager: pods.find(({ pod: name }) => name.endsWith('/im-n1'))?.verdict,
  blockers: blockers.map(
    ({ object, reason, holder, waiting }) => `${object} ${reason}, ${holder}: ${waiting.join(' ')}`,
  ),
  lines: longhorn === undefined ? [] : longhornLines(longhorn),
})

const waits = 'pod/longhorn-system/im-n1'
const last = { nodes: { n1: {}, n2: {} }, volumes: { v1: { copies: { n1: 'healthy' } } } } as const
const leaving = { nodes: { n1: { isCordoned: true }, n2: {} } } as const
const db = pod('db-0', { node: 'n1' })
const engine = { n1: { manager: { engines: ['v1'] } }, n2: {}, n3: {} } as const
const twoCopies = { n1: 'healthy', n2: 'healthy' } as const

const cases: Record<string, { given: Given; then: ReturnType<typeof told> }> = {
  'an open node whose copies are elsewhere too is free, and its instance manager follows the cordon': {
    given: { nodes: { n1: {}, n2: {} }, volumes: { v1: { copies: twoCopies } } },
    then: {
      mayGo: true,
      manager: 'in-turn',
      blockers: [],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-if-contains-last-replica; 1 replica here',
        'drained now, nothing of Longhorn would hold it',
      ],
    },
  },
  'an open node with a last copy is blocked before anybody drains it': {
    given: last,
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`replica/v1-n1 LastReplica, volume/v1: ${waits}`],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-if-contains-last-replica; 1 replica here',
        'drained now, 1 thing would hold it',
      ],
    },
  },
  'an open node whose replicas would move by themselves is free, and says how much would move': {
    given: {
      policy: 'block-for-eviction',
      nodes: { n1: {}, n2: {}, n3: {} },
      volumes: {
        v1: { copies: twoCopies, actualBytes: 2 * gib },
        v2: { copies: { n1: 'healthy', n3: 'healthy' }, actualBytes: gib },
      },
    },
    then: {
      mayGo: true,
      manager: 'in-turn',
      blockers: [],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-for-eviction; 2 replicas here',
        'drained now, 2 replicas (3 GiB) would move first',
      ],
    },
  },
  'a Longhorn that decides itself will be stuck on a copy whose node is gone, which is told before anybody drains': {
    given: {
      mode: 'observe',
      nodes: { n1: {}, n2: {}, n3: { kubernetes: 'absent' } },
      volumes: { v1: { copies: { ...twoCopies, n3: 'healthy' } } },
    },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`replica/v1-n3 LonghornStuck, Longhorn: ${waits}`],
      lines: [
        'Longhorn decides (observe), policy block-if-contains-last-replica; 1 replica here',
        'drained now, 1 thing would hold it',
      ],
    },
  },
  'where a volume finds no room elsewhere, its replica would hold the node': {
    given: {
      policy: 'block-for-eviction',
      nodes: { n1: {}, n2: {} },
      volumes: { v1: { copies: twoCopies, schedulingProblem: 'no disk has room' } },
    },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`replica/v1-n1 NoPlaceForReplica, volume/v1: ${waits}`],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-for-eviction; 1 replica here',
        'drained now, 1 thing would hold it',
      ],
    },
  },
  'where no operator is at work, what would move holds the node': {
    given: {
      policy: 'block-for-eviction',
      nodes: { n1: {}, n2: {} },
      volumes: { v1: { copies: twoCopies } },
      attendance: { isAttended: false },
    },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`replica/v1-n1 ReplicaMustLeave, volume/v1: ${waits}`],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-for-eviction; no operator is running; 1 replica here',
        'drained now, 1 thing would hold it',
      ],
    },
  },
  'a volume whose pod the drain evicts goes with its pod': {
    given: {
      nodes: engine,
      volumes: { v1: { copies: twoCopies, attachedBy: 'pod shop/db-0', attachedTo: 'n1' } },
      pods: [db],
    },
    then: {
      mayGo: true,
      manager: 'in-turn',
      blockers: [],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-if-contains-last-replica; 1 replica here',
        'drained now, 1 volume would go with its pods',
      ],
    },
  },
  'a volume whose pod stays on the node holds it': {
    given: {
      nodes: engine,
      volumes: { v1: { copies: twoCopies, attachedBy: 'pod shop/db-0', attachedTo: 'n1' } },
      pods: [pod('db-0', { node: 'n1', ownerKind: 'DaemonSet' })],
    },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`volume/v1 VolumeAttached, volume/v1 (attached by pod shop/db-0): ${waits}`],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-if-contains-last-replica; 1 replica here',
        'drained now, 1 thing would hold it',
      ],
    },
  },
  'a cordoned node is held by each replica that still moves, and tells how far they are': {
    given: {
      policy: 'block-for-eviction',
      nodes: {
        n1: { isCordoned: true, isAutoEvicting: true, moving: { sinceMs: -21_000, bytes: 6 * gib } },
        n2: {},
        n3: {},
      },
      volumes: {
        v1: {
          copies: { n1: { isEvictionRequested: true }, n2: 'healthy', n3: 'rebuilding' },
          numberOfReplicas: 2,
          actualBytes: 2 * gib,
        },
        v2: {
          copies: { n1: { isEvictionRequested: true }, n2: 'rebuilding' },
          numberOfReplicas: 1,
          actualBytes: 2 * gib,
        },
      },
    },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [
        `replica/v1-n1 ReplicaMoving, volume/v1: ${waits}`,
        `replica/v2-n1 ReplicaMoving, volume/v2: ${waits}`,
      ],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-for-eviction; 2 replicas here',
        '2 replicas to move: 2 GiB of 6 GiB moved, 98 MiB/s, about 42 s left',
      ],
    },
  },
  'where nobody noted the beginning, the pace is not guessed': {
    given: {
      ...leaving,
      mode: 'observe',
      policy: 'block-for-eviction',
      volumes: {
        v1: { copies: { n1: { isEvictionRequested: true }, n2: 'rebuilding' }, numberOfReplicas: 1, actualBytes: 512 },
      },
    },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`replica/v1-n1 ReplicaMoving, volume/v1: ${waits}`],
      lines: [
        'Longhorn decides (observe), policy block-for-eviction; 1 replica here',
        '1 replica to move: 512 B left; its start was not recorded, so its pace is not known',
      ],
    },
  },
  'a replica is called moving only while it moves: "is being copied" was said for two minutes while nothing had begun':
    {
      given: {
        nodes: { n1: { isCordoned: true }, n2: {}, n3: {} },
        mode: 'observe',
        policy: 'block-for-eviction',
        volumes: {
          v1: { copies: twoCopies },
          v2: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } },
        },
      },
      then: {
        mayGo: false,
        manager: 'waits',
        blockers: [
          `replica/v1-n1 ReplicaMustLeave, volume/v1: ${waits}`,
          `replica/v2-n1 ReplicaMustLeave, volume/v2: ${waits}`,
        ],
        lines: [
          'Longhorn decides (observe), policy block-for-eviction; 2 replicas here',
          '2 replicas to move (1 waiting, 1 not begun): 1000 B left; nothing is being copied now',
        ],
      },
    },
  'moves that Longhorn should have begun a minute ago are called stuck, also where it decides alone': {
    given: {
      nodes: { n1: { isCordoned: true, cordonedSinceMs: -60_000, managerPod: 'away' }, n2: {}, n3: {} },
      mode: 'observe',
      policy: 'block-for-eviction',
      inForceSinceMs: -3_600_000,
      volumes: { v1: { copies: twoCopies } },
    },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`replica/v1-n1 LonghornStuck, volume/v1: ${waits}`],
      lines: [
        'Longhorn decides (observe), policy block-for-eviction; 1 replica here',
        '1 replica to move (1 not begun)',
      ],
    },
  },
  'where Longhorn decides alone, our words for one volume, an intent and a trigger are not counted in': {
    given: {
      mode: 'observe',
      trigger: 'drain',
      nodes: { n1: { isCordoned: true, intent: 'Reboot' }, n2: {} },
      volumes: { v1: { copies: { n1: 'healthy' }, policy: 'always-allow' } },
    },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`replica/v1-n1 LastReplica, volume/v1: ${waits}`],
      lines: ['Longhorn decides (observe), policy block-if-contains-last-replica; 1 replica here'],
    },
  },
  'a cordoned node that nothing holds waits only for its budget to go, and is not called free of Longhorn before that: its pod is refused':
    {
      given: { ...leaving, volumes: { v1: { copies: twoCopies } } },
      then: {
        mayGo: false,
        manager: 'waits',
        blockers: [`pdb/longhorn-system/im-n1 ReplicasProtected, Longhorn: ${waits}`],
        lines: [
          'Longhorn decides, guided and held by the operator (hold), policy block-if-contains-last-replica; 1 replica here',
        ],
      },
    },
  'once its budget has gone, the node is free': {
    given: { nodes: { n1: { isCordoned: true, hasBudget: false }, n2: {} }, isFree: true },
    then: {
      mayGo: true,
      manager: 'goes',
      blockers: [],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), policy block-if-contains-last-replica; 0 replicas here',
        'nothing of Longhorn holds the node',
      ],
    },
  },
  'a guide that wants another policy than the setting has says both': {
    given: {
      nodes: { n1: {}, n2: {} },
      mode: 'guide',
      policy: 'block-for-eviction',
      inForce: { known: true, value: 'always-allow' },
      trigger: 'drain',
      volumes: { v1: { copies: twoCopies } },
    },
    then: {
      mayGo: true,
      manager: 'in-turn',
      blockers: [],
      lines: [
        'Longhorn decides, guided (guide), policy block-for-eviction while a node is drained, else always-allow, and nothing moves before a drain starts; 1 replica here',
        'drained now, 1 replica (1000 B) would move first',
      ],
    },
  },
  'an unknown policy is told as such': {
    given: { ...last, policy: 'whatever' },
    then: {
      mayGo: false,
      manager: 'waits',
      blockers: [`replica/v1-n1 DrainPolicyUnknown, volume/v1: ${waits}`],
      lines: [
        'Longhorn decides, guided and held by the operator (hold), its policy is unknown; 1 replica here',
        'drained now, 1 thing would hold it',
      ],
    },
  },
  'a node that Longhorn does not have is none of its business': {
    given: { nodes: { n2: {} }, isFree: true },
    then: { mayGo: true, manager: 'goes', blockers: [], lines: [] },
  },
}

describe('explaining a node where Longhorn has data', () => {
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(told(explain(given))).toEqual(then)
  })

  it('a blocker names the replica, its volume, who attached it, what is missing and the way out', () => {
    const { blockers } = explain({
      policy: 'block-for-eviction',
      nodes: { n1: { isCordoned: true, moving: { sinceMs: 0, bytes: 1000 } }, n2: {} },
      volumes: {
        v1: {
          copies: { n1: { isEvictionRequested: true }, n2: 'healthy' },
          attachedBy: 'pod shop/db-0',
          attachedTo: 'n2',
          schedulingProblem: 'no disk has room',
        },
      },
    })
    expect(blockers).toHaveLength(1)
    const { explanation, ...blocker } = blockers[0] as Blocker
    expect(blocker).toEqual({
      object: 'replica/v1-n1',
      reason: 'NoPlaceForReplica',
      holder: 'volume/v1 (attached by pod shop/db-0)',
      since: '1970-01-01T00:00:00Z',
      causes: [],
      unblocks:
        'Add a node or a disk, free space, let copies share a node (replica-soft-anti-affinity), correct node and disk tags, or uncordon the node.',
      override:
        "kubectl -n longhorn-system label volumes.longhorn.io v1 cofferdam.io/node-drain-policy=always-allow; without the node the volume may be out of reach. Where Longhorn's own budget holds the node too, its setting node-drain-policy decides",
      waiting: [waits],
    })
    for (const word of ['v1-n1', 'volume v1', 'pod shop/db-0 on n2', 'no disk has room']) {
      expect(explanation).toContain(word)
    }
  })
})

describe('explaining an instance manager', () => {
  const guards = (fixture: Fixture) => ({
    pods: [manager.pod],
    budgets: [manager.budget],
    storage: [],
    longhorn: longhornSeen(fixture),
  })
  const asked = (fixture: Fixture) => {
    const pdb = explainBudget({ ...guards(fixture), budget: manager.budget })
    const own = explainPod({ ...guards(fixture), pod: manager.pod })
    expect(own.blockers).toEqual(pdb.blockers)
    return pdb.blockers.map(({ object, reason, unblocks }) => [object, reason, unblocks])
  }

  it('on an open node it is kept, and the answer says what ends that', () => {
    expect(asked(last)).toEqual([
      [
        'pdb/longhorn-system/im-n1',
        'NotCordoned',
        'a cordon of the node; cofferdam explain node/n1 shows what would hold it then',
      ],
    ])
  })

  it('on a cordoned node budget and pod name what holds the node, not an anonymous budget', () => {
    expect(asked({ ...last, nodes: leaving.nodes }).map(([object, reason]) => `${object} ${reason}`)).toEqual([
      'replica/v1-n1 LastReplica',
    ])
  })

  it('a budget whose instance manager is gone is a budget like any other', () => {
    const fixture = { nodes: { n2: {} }, moreBudgets: ['im-n1'] }
    expect(asked(fixture).map(([object, reason]) => `${object} ${reason}`)).toEqual([
      'pdb/longhorn-system/im-n1 BudgetImpossible',
    ])
  })
})
