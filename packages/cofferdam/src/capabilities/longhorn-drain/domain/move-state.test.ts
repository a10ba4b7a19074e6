import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { decideLonghornDrain } from './decide.ts'
import { evictionTicketType } from './eviction-ticket.ts'
import type { DrainPolicy } from './snapshot.ts'
import { type Fixture, longhornFixture, type VolumeSetting } from './testing/longhorn-fixture.ts'

const flagged = { isEvictionRequested: true }
const nodes = { n1: { isCordoned: true }, n2: {}, n3: {} }
const ticket = { id: `${evictionTicketType}-db`, type: evictionTicketType, node: 'n2' }

/** What is said of the replica of `db` on a cordoned n1 under block-for-eviction. */
function said(
  volume: VolumeSetting,
  more: Partial<Fixture> & { readonly isRebuildOff?: true; readonly yieldedTo?: DrainPolicy } = {},
) {
  const { isRebuildOff, yieldedTo, ...fixture } = more
  const seen = longhornFixture({ policy: 'block-for-eviction', nodes, volumes: { db: volume }, ...fixture })
  const settings = {
    ...seen.settings,
    ...(isRebuildOff === undefined ? {} : { isRebuildOff }),
    ...(yieldedTo === undefined ? {} : { inForce: known(yieldedTo), isYielded: true as const }),
  }
  const [answer] = decideLonghornDrain({ ...seen, settings }).nodes
  const state = answer?.moves.find(({ volume: name }) => name === 'db')?.state
  const { reason, explanation, wayOut } = answer?.blockers.find((each) => each.volume === 'db') ?? {}
  return { state, reason, explanation: explanation?.replace('Replica db-n1 of volume db ', ''), wayOut }
}

const both = { n1: flagged, n2: 'healthy' } as const

describe('a replica that should leave its node', () => {
  const rows: Record<string, readonly [ReturnType<typeof said>, object]> = {
    'has not begun to move while its flag is down, whatever is decided': [
      said({ copies: { n1: 'healthy', n2: 'healthy' } }),
      {
        state: 'not-begun',
        reason: 'ReplicaMustLeave',
        explanation: 'must leave node n1, and Longhorn has not begun to move it.',
        wayOut: 'The longhorn-manager on node n1 requests it, within half a minute.',
      },
    ],
    'has not begun to move while its flag is down, though another copy is built': [
      said({ copies: { n1: 'healthy', n2: 'healthy', n3: 'rebuilding' }, numberOfReplicas: 3, rebuiltShare: 0.5 }),
      { state: 'not-begun', reason: 'ReplicaMustLeave' },
    ],
    'does not begin under a policy that another client has set: its blocker names that, not a manager that does what it is told':
      [
        said({ copies: { n1: 'healthy', n2: 'healthy' } }, { yieldedTo: 'block-if-contains-last-replica' }),
        {
          state: 'not-begun',
          reason: 'ReplicaMustLeave',
          wayOut:
            'Longhorn goes by node-drain-policy block-if-contains-last-replica, which another client has set while a node was drained, and which leaves it there: set block-for-eviction, or make cofferdam.io/wanted-policy as mild.',
        },
      ],
    'cannot begin where no manager of Longhorn is ready on its node': [
      said(
        { copies: { n1: 'healthy', n2: 'healthy' } },
        { nodes: { ...nodes, n1: { isCordoned: true, managerPod: 'away' } } },
      ),
      {
        state: 'not-begun',
        wayOut: 'No longhorn-manager pod is ready on node n1, and no other one requests evictions there: start it.',
      },
    ],
    'waits while its flag is up and nothing is in its place': [
      said({ copies: both }),
      {
        state: 'waiting',
        reason: 'ReplicaMustLeave',
        explanation: 'is to leave node n1, and is not being copied: Longhorn has made no copy yet.',
      },
    ],
    'waits for a place, in the words of Longhorn': [
      said({ copies: both, schedulingProblem: 'ReplicaSchedulingFailure: insufficient storage' }),
      {
        state: 'waiting',
        reason: 'NoPlaceForReplica',
        explanation:
          'is to leave node n1, but no node takes another copy: ReplicaSchedulingFailure: insufficient storage.',
      },
    ],
    'waits for a place that another drain keeps closed, and names that node: its administrator has to end one': [
      said(
        { copies: both, schedulingProblem: 'ReplicaSchedulingFailure: nodes are unavailable' },
        { nodes: { ...nodes, n3: { isCordoned: true, takesReplicas: false } } },
      ),
      {
        reason: 'NoPlaceForReplica',
        explanation:
          'is to leave node n1, but no node takes another copy: ReplicaSchedulingFailure: nodes are unavailable (n1 is to be drained, n2 has a copy already, n3 is cordoned).',
      },
    ],
    'waits for a volume that migrates': [
      said({ copies: both, changing: 'it migrates to node n3' }),
      {
        state: 'waiting',
        explanation: 'is to leave node n1, and is not being copied: it migrates to node n3 first.',
        wayOut: 'It is copied when that has ended.',
      },
    ],
    'waits for a detached volume that Longhorn has not attached': [
      said({ copies: both, state: 'detached' }),
      {
        state: 'waiting',
        explanation:
          'is to leave node n1, and is not being copied: the volume is detached, and Longhorn has not attached it for that.',
      },
    ],
    'waits for a detached volume that Longhorn attaches': [
      said({ copies: both, state: 'detached', tickets: [ticket] }),
      {
        state: 'waiting',
        explanation:
          'is to leave node n1, and is not being copied: the volume is detached, and Longhorn attaches it to node n2.',
      },
    ],
    'waits for a detached volume that a ticket of an earlier Cofferdam attaches, and Longhorn is not blamed for it': [
      said({ copies: both, state: 'detached', tickets: [{ ...ticket, id: 'cofferdam-eviction-db', node: 'n1' }] }),
      {
        explanation:
          'is to leave node n1, and is not being copied: the volume is detached, and a ticket left over from an earlier Cofferdam attaches it to node n1.',
      },
    ],
    'waits for a volume that is being attached': [
      said({ copies: both, state: 'moving' }),
      { explanation: 'is to leave node n1, and is not being copied: the volume is being attached or detached.' },
    ],
    'waits for the rebuild of another copy': [
      said({ copies: both, rebuiltShare: 0.5 }),
      {
        state: 'waiting',
        explanation: 'is to leave node n1, and is not being copied: another copy of the volume is rebuilt first.',
      },
    ],
    'waits for a failed copy that may come back': [
      said({ copies: { n1: flagged, n2: 'failed' }, robustness: 'degraded' }),
      {
        state: 'waiting',
        explanation:
          'is to leave node n1, and is not being copied: replica db-n2 has failed, and Longhorn may wait for it to come back.',
      },
    ],
    'never moves where Longhorn makes no copies, which is said at once': [
      said({ copies: both }, { isRebuildOff: true }),
      {
        state: 'waiting',
        reason: 'LonghornStuck',
        explanation:
          'is to leave node n1, and is not being copied: Longhorn makes no copies while its setting concurrent-replica-rebuild-per-node-limit is 0.',
        wayOut: 'Set it to 1 or more.',
      },
    ],
    'is being copied while another copy is built, and says which and how far': [
      said({ copies: { ...both, n3: 'rebuilding' }, numberOfReplicas: 2, rebuiltShare: 0.255 }),
      {
        state: 'copying',
        reason: 'ReplicaMoving',
        explanation: 'is being copied off node n1: db-n3 on n3 is rebuilt to 25 %.',
      },
    ],
    'is being copied though another copy finds no place': [
      said({
        copies: { ...both, n3: 'rebuilding' },
        numberOfReplicas: 3,
        schedulingProblem: 'ReplicaSchedulingFailure: nodes are unavailable',
      }),
      {
        state: 'copying',
        explanation: 'is being copied off node n1: db-n3 on n3 is there, and its rebuild has not started.',
      },
    ],
    'is not copied by copies that were never written, for no engine runs': [
      said({ copies: { n1: { ...flagged, is: 'unused' }, n2: 'unused' }, state: 'detached' }),
      { state: 'waiting' },
    ],
    'is not copied by one that leaves as well': [
      said({ copies: { n1: flagged, n2: { ...flagged, is: 'rebuilding' }, n3: 'healthy' }, numberOfReplicas: 3 }),
      { state: 'waiting' },
    ],
    'is copied when enough whole copies stay, and is only to be deleted': [
      said({ copies: { ...both, n3: 'healthy' }, numberOfReplicas: 2 }),
      { state: 'copied', reason: 'ReplicaMoving', explanation: 'is copied, and still on node n1.' },
    ],
  }
  it.each(Object.entries(rows))('%s', (_, [seen, expected]) => {
    expect(seen).toMatchObject(expected)
  })

  it('is copied and stays all the same while a linked clone on its node reads its data', () => {
    const clone = { copies: { n1: { cloneSource: 'db-n1' } } }
    const db = { copies: { ...both, n3: 'healthy' as const }, numberOfReplicas: 2 }
    expect(said(db, { volumes: { db, clone } })).toMatchObject({
      state: 'copied',
      reason: 'LinkedCloneReplica',
      explanation: 'is copied, but stays on node n1: linked clone clone reads its data.',
    })
  })
})

it('of two copies that are built the first by name counts, in whatever order they come: the text would change with each', () => {
  const to = (copies: VolumeSetting['copies']) => said({ copies, numberOfReplicas: 3 }).explanation
  const first = to({ n1: flagged, n2: 'rebuilding', n3: 'rebuilding' })
  expect(first).toContain('n2')
  expect(to({ n1: flagged, n3: 'rebuilding', n2: 'rebuilding' })).toBe(first)
})
