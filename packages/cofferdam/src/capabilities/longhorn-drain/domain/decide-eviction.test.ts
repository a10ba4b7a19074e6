import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { type Fixture, longhornFixture } from './testing/longhorn-fixture.ts'
import { type DecisionTable, tellDecisions } from './testing/tell-decisions.ts'

const cordoned = { isCordoned: true }
const open = {}
const two = { n1: cordoned, n2: open }
const three = { n1: cordoned, n2: open, n3: open }

describe('block-for-eviction', () => {
  const table: DecisionTable = {
    'every replica of a cordoned node moves, and holds it until it has moved': [
      { nodes: three, volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } }, w: { copies: { n1: 'healthy' } } } },
      {
        kept: 'im-n1 im-n2 im-n3',
        flags: '+v-n1 EvictionAutomatic, +w-n1 EvictionAutomatic',
        mayDrain: 'n1: ReplicaMustLeave',
      },
    ],
    'failed, unused and half-built replicas hold the node too': [
      { nodes: two, volumes: { v: { copies: { n1: 'failed', n2: 'healthy' } } } },
      { kept: 'im-n1 im-n2', flags: '+v-n1 EvictionAutomatic', mayDrain: 'n1: ReplicaMustLeave' },
    ],
    'an uncordoned node gets its replicas back to normal': [
      {
        nodes: { n1: { isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '-v-n1 EvictionCanceled', mayDrain: '' },
    ],
    'a second look changes nothing and tells nothing new': [
      {
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '=v-n1 EvictionAutomatic' },
    ],
    'a node that falls silent stops evicting, for nobody could copy from it': [
      {
        nodes: { n1: { ...cordoned, kubernetes: 'silent', isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '-v-n1 KubernetesNodeNotReady' },
    ],
    'a strict-local replica is told as what it is: bound, and never gone by waiting': [
      { nodes: two, volumes: { v: { copies: { n1: 'healthy' }, isStrictLocal: true } } },
      { flags: '+v-n1 EvictionAutomatic', mayDrain: 'n1: StrictLocalReplica' },
    ],
    'for a reboot everything moves too: a node was let go with a copy of each volume still on it, against the policy': [
      {
        nodes: { n1: { ...cordoned, isDraining: true, intent: 'Reboot' }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '+v-n1 EvictionAutomatic' },
    ],
    'for a reboot with a policy of its own a replica with a protected copy elsewhere stays, and the node may go': [
      {
        rebootPolicy: 'block-for-eviction-if-contains-last-replica',
        nodes: { n1: { ...cordoned, isDraining: true, intent: 'Reboot' }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n2', flags: '', mayDrain: 'n1: yes' },
    ],
    'for a reboot with that policy the last copy still moves first': [
      {
        rebootPolicy: 'block-for-eviction-if-contains-last-replica',
        nodes: { n1: { ...cordoned, isDraining: true, intent: 'Reboot' }, n2: open },
        volumes: { v: { copies: { n1: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '+v-n1 EvictionAutomatic', mayDrain: 'n1: ReplicaMustLeave' },
    ],
    'a policy for reboots that means nothing holds the node that reboots, and moves nothing': [
      {
        rebootPolicy: 'relaxed',
        nodes: { n1: { ...cordoned, isDraining: true, intent: 'Reboot' }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: DrainPolicyUnknown' },
    ],
    'a volume that asks for block-for-eviction itself moves for a reboot too': [
      {
        rebootPolicy: 'always-allow',
        nodes: { n1: { ...cordoned, isDraining: true, intent: 'Reboot' }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' }, policy: 'block-for-eviction' } },
      },
      { kept: 'im-n1 im-n2', flags: '+v-n1 EvictionAutomatic' },
    ],
    'for a removal everything moves': [
      {
        nodes: { n1: { ...cordoned, isDraining: true, intent: 'Remove' }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '+v-n1 EvictionAutomatic' },
    ],
    'with the trigger drain a mere cordon moves nothing, and the node is held': [
      { trigger: 'drain', nodes: two, volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } } },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: ReplicaMustLeave' },
    ],
    'with the trigger drain the first attempt to evict moves the replicas': [
      {
        trigger: 'drain',
        nodes: { n1: { ...cordoned, isDraining: true }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { flags: '+v-n1 EvictionAutomatic' },
    ],
    'with the trigger drain a drain that pauses does not cancel what was begun': [
      {
        trigger: 'drain',
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '=v-n1 EvictionAutomatic' },
    ],
  }
  tellDecisions(table, 'block-for-eviction')
})

describe('block-for-eviction-if-contains-last-replica', () => {
  const begun = { ...cordoned, isAutoEvicting: true }
  const flagged = { isEvictionRequested: true }
  const table: DecisionTable = {
    'of two volumes only the one without another copy moves': [
      {
        nodes: three,
        volumes: {
          one: { copies: { n1: 'healthy' } },
          v3: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } },
        },
      },
      { kept: 'im-n1 im-n2 im-n3', flags: '+one-n1 EvictionAutomatic', mayDrain: 'n1: ReplicaMustLeave' },
    ],
    'without any budget the only copies of a node move, linked clones too': [
      {
        nodes: { n1: { ...cordoned, hasBudget: false }, n2: { hasBudget: false } },
        volumes: { source: { copies: { n1: 'healthy' } }, clone: { copies: { n1: 'healthy' } } },
      },
      { flags: '+clone-n1 EvictionAutomatic, +source-n1 EvictionAutomatic' },
    ],
    'a copy whose budget is only about to be made keeps its twin from moving for nothing': [
      {
        nodes: { n1: cordoned, n2: { hasBudget: false } },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '' },
    ],
    'a volume that was never attached moves, and does not hold the node': [
      { nodes: two, volumes: { v: { copies: { n1: 'unused' } } } },
      { kept: 'im-n2', flags: '+v-n1 EvictionAutomatic', mayDrain: 'n1: yes' },
    ],
    'once the replacement is whole the move is carried through, and no copy is left over': [
      {
        nodes: { n1: begun, n2: open },
        volumes: { v: { copies: { n1: flagged, n2: 'healthy' }, numberOfReplicas: 1 } },
      },
      { kept: 'im-n2', flags: '=v-n1 EvictionAutomatic', mayDrain: 'n1: yes' },
    ],
    'a move for which nothing was made yet is cancelled when the volume turns out to be safe': [
      {
        nodes: { n1: begun, n2: open, n3: open },
        volumes: { v: { copies: { n1: flagged, n2: 'healthy', n3: 'healthy' } } },
      },
      { flags: '-v-n1 EvictionCanceled', mayDrain: 'n1: yes' },
    ],
    'a flag that a user set and took back is cancelled though a spare copy exists': [
      {
        nodes: { n1: cordoned, n2: open },
        volumes: { v: { copies: { n1: flagged, n2: 'healthy' }, numberOfReplicas: 1 } },
      },
      { flags: '-v-n1 EvictionCanceled' },
    ],
    'a node whose object is gone does not stop the drain of another': [
      {
        nodes: { n1: { kubernetes: 'absent' }, n2: cordoned, n3: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' }, state: 'detached' } },
      },
      { kept: 'im-n3', flags: '', mayDrain: 'n2: yes' },
    ],
    'a kubelet that blips elsewhere starts no move': [
      {
        nodes: { n1: cordoned, n2: { kubernetes: 'silent' } },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '' },
    ],
    "the seed's shorter spelling means the same": [
      { policy: 'block-for-eviction-if-last-replica', nodes: two, volumes: { v: { copies: { n1: 'healthy' } } } },
      { flags: '+v-n1 EvictionAutomatic' },
    ],
  }
  tellDecisions(table, 'block-for-eviction-if-contains-last-replica')
})

describe('what users ask for', () => {
  const askedDisk = (node: string) => [
    { name: 'd1', uuid: `disk-${node}`, isEvictionAsked: true, allowScheduling: false },
  ]
  const table: DecisionTable = {
    'a disk that is to be emptied is emptied without a cordon, and that is not automatic': [
      { nodes: { n1: { disks: askedDisk('n1') }, n2: open }, volumes: { v: { copies: { n1: 'healthy' } } } },
      { flags: '+v-n1 EvictionUserRequested' },
    ],
    'a node that a user empties and that is cordoned too is emptied for the user': [
      {
        policy: 'block-for-eviction',
        nodes: { n1: { ...cordoned, isEvictionAsked: true, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: 'healthy' } } },
      },
      { flags: '+v-n1 EvictionUserRequested' },
    ],
    'one disk for the user and one by policy make the node evict automatically': [
      {
        policy: 'block-for-eviction',
        nodes: { n1: { ...cordoned, disks: askedDisk('n1') }, n2: open },
        volumes: { v: { copies: { n1: 'healthy' } }, w: { copies: { n1: { diskUuid: 'other' } } } },
      },
      { flags: '+v-n1 EvictionUserRequested, +w-n1 EvictionAutomatic' },
    ],
    'a policy that moves nothing cancels what another one began': [
      {
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '-v-n1 EvictionCanceled' },
    ],
    'a replica that is going already does not make its node begin to empty itself before anybody drains it': [
      {
        policy: 'block-for-eviction',
        trigger: 'drain',
        nodes: two,
        volumes: {
          going: { copies: { n1: { isEvictionRequested: true, isBeingDeleted: true } } },
          v: { copies: { n1: 'healthy' } },
        },
      },
      { flags: '=going-n1 EvictionAutomatic' },
    ],
    'a replica that is being deleted is not written to': [
      { nodes: two, volumes: { v: { copies: { n1: { isEvictionRequested: true, isBeingDeleted: true } } } } },
      { flags: '=v-n1 EvictionAutomatic' },
    ],
  }
  tellDecisions(table)
})

describe('a replica whose move is called off says why', () => {
  const taint = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' as const }
  const explained = (given: Partial<Fixture>, n1: object) => {
    const volumes = { db: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } } as const
    const nodes = { n1: { isCordoned: true, ...n1 }, n2: {} }
    return decideLonghornDrain(
      longhornFixture({ policy: 'block-for-eviction', nodes, volumes, ...given }),
    ).evictions.map(({ explanation }) => explanation)
  }

  it('the node is closed by a taint alone, which Longhorn does not see', () => {
    expect(explained({}, { closing: { isCordoned: false, taint } })).toEqual([
      expect.stringContaining('Node n1 is not cordoned.'),
    ])
  })

  it('the node is cordoned and nobody drains it', () => {
    expect(explained({ trigger: 'drain' }, {})).toEqual([expect.stringContaining('The node is not being drained.')])
  })
})
