import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'
import { type DecisionTable, tellDecisions } from './testing/tell-decisions.ts'

const cordoned = { isCordoned: true }
const open = {}
const two = { n1: cordoned, n2: open }

describe('policies of volumes', () => {
  const table: DecisionTable = {
    'the strictest policy on the node decides for its budget, and each replica moves by its own': [
      {
        policy: 'always-allow',
        nodes: two,
        volumes: {
          free: { copies: { n1: 'healthy' } },
          last: { copies: { n1: 'healthy' }, policy: 'block-if-contains-last-replica' },
          moved: { copies: { n1: 'healthy', n2: 'healthy' }, policy: 'block-for-eviction' },
        },
      },
      { kept: 'im-n1 im-n2', flags: '+moved-n1 EvictionAutomatic', mayDrain: 'n1: LastReplica' },
    ],
    'a volume whose owner accepts its absence lets the node go under a strict setting': [
      {
        policy: 'block-for-eviction',
        nodes: two,
        volumes: { cache: { copies: { n1: 'healthy' }, policy: 'always-allow', isStrictLocal: true } },
      },
      { kept: 'im-n2', flags: '', mayDrain: 'n1: yes' },
    ],
    'a label that means nothing holds the last copy even where the setting allows everything': [
      {
        policy: 'always-allow',
        nodes: two,
        volumes: { v: { copies: { n1: 'healthy' }, policy: 'never' } },
      },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: DrainPolicyUnknown' },
    ],
  }
  tellDecisions(table)
})

describe('what is unknown', () => {
  const table: DecisionTable = {
    'an unknown policy holds last copies and moves nothing': [
      { policy: 'block-sometimes', nodes: two, volumes: { v: { copies: { n1: 'healthy' } } } },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: DrainPolicyUnknown' },
    ],
    'a setting that is missing may have said that every replica leaves first, so no node is let go that has any': [
      { policy: undefined, nodes: two, volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } } },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: DrainPolicyUnknown' },
    ],
    'a node without replicas may go under any policy, so also under one that is not known': [
      { policy: undefined, nodes: two, volumes: { v: { copies: { n2: 'healthy' } } } },
      { kept: 'im-n2', flags: '', mayDrain: 'n1: yes' },
    ],
    'a node that was let go before the setting went missing gets no new budget, as its volumes are safe elsewhere': [
      {
        policy: undefined,
        nodes: { n1: { ...cordoned, hasBudget: false }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n2', flags: '', mayDrain: 'n1: DrainPolicyUnknown' },
    ],
    'but it gets one where it has become the last copy since': [
      {
        policy: undefined,
        nodes: { n1: { ...cordoned, hasBudget: false }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'failed' } } },
      },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: DrainPolicyUnknown' },
    ],
    'where the cluster is autoscaled, an unknown policy thins out no budgets': [
      {
        policy: undefined,
        isAutoscaled: true,
        nodes: { n1: open, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: '' },
    ],
    'one label that is not known holds the nodes of its volume, and no other': [
      {
        nodes: { n1: cordoned, n2: open, n3: cordoned },
        volumes: {
          v: { copies: { n1: 'healthy', n2: 'healthy' }, policy: 'never' },
          w: { copies: { n2: 'healthy', n3: 'healthy' } },
        },
      },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: DrainPolicyUnknown, n3: yes' },
    ],
    'a setting that is unreadable for a moment cancels no move': [
      {
        policy: undefined,
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '=v-n1 EvictionAutomatic' },
    ],
    'a volume that cannot be read may have a policy of its own, so its nodes are held': [
      {
        policy: 'always-allow',
        nodes: two,
        volumes: { v: { copies: { n1: 'healthy' } } },
        unreadable: [{ object: 'volume/v', why: 'spec is not an object' }],
      },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: DrainPolicyUnknown' },
    ],
    'a replica that cannot be read holds the node it lies on, and no other': [
      {
        nodes: { n1: cordoned, n2: cordoned },
        unreadable: [{ object: 'replica/x', why: 'spec.volumeName is not set', node: 'n1' }],
      },
      { kept: 'im-n1', mayDrain: 'n1: ObjectsUnusable, n2: yes' },
    ],
    'a replica that cannot be read holds its node while the policy cannot be read either: nobody has said that it may go':
      [
        {
          policy: undefined,
          nodes: { n1: cordoned, n2: cordoned },
          unreadable: [{ object: 'replica/x', why: 'spec.volumeName is not set', node: 'n1' }],
        },
        { kept: 'im-n1', mayDrain: 'n1: ObjectsUnusable, n2: yes' },
      ],
    'an instance manager that does not run keeps what it has, and the node says why it waits': [
      { nodes: { n1: { ...cordoned, manager: { isRunning: false } } } },
      { kept: '', mayDrain: 'n1: InstanceManagerAway' },
    ],
  }
  tellDecisions(table)
})

describe('an autoscaled cluster', () => {
  const copies = { n1: 'healthy', n2: 'healthy', n3: 'healthy' } as const
  const none = { hasBudget: false }
  const table: DecisionTable = {
    'of three copies that protect each other one keeps its budget': [
      { isAutoscaled: true, nodes: { n1: open, n2: open, n3: open }, volumes: { v: { copies, state: 'detached' } } },
      { kept: 'im-n3' },
    ],
    'where none has a budget one is made': [
      { isAutoscaled: true, nodes: { n1: none, n2: none, n3: none }, volumes: { v: { copies } } },
      { kept: 'im-n1' },
    ],
    'when the one with the budget is cordoned another gets one first, and nothing moves': [
      {
        policy: 'block-for-eviction-if-contains-last-replica',
        isAutoscaled: true,
        nodes: { n1: none, n2: none, n3: cordoned },
        volumes: { v: { copies } },
      },
      { kept: 'im-n1 im-n3', flags: '' },
    ],
    'a node with nothing on it has no budget': [{ isAutoscaled: true, nodes: { n1: open } }, { kept: '' }],
    'block-for-eviction keeps a budget wherever a replica is': [
      {
        policy: 'block-for-eviction',
        isAutoscaled: true,
        nodes: { n1: open, n2: open },
        volumes: { v: { copies: { n1: 'unused' } } },
      },
      { kept: 'im-n1' },
    ],
    'a node that reboots by a milder policy protects no other: both would go, and with them the only two copies': [
      {
        isAutoscaled: true,
        rebootPolicy: 'always-allow',
        nodes: { n1: open, n2: { intent: 'Reboot' } },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1' },
    ],
  }
  tellDecisions(table)
})

describe('an autoscaled cluster under allow-if-replica-is-stopped', () => {
  const stopped = { isStopped: true }
  const none = { hasBudget: false }
  const table: DecisionTable = {
    'a copy that runs keeps its node: let go for a stopped one, whose node goes too, both took the volume with them': [
      { isAutoscaled: true, nodes: { n1: open, n2: open }, volumes: { v: { copies: { n1: 'healthy', n2: stopped } } } },
      { kept: 'im-n1' },
    ],
    'so it does whichever of the two nodes is judged first': [
      { isAutoscaled: true, nodes: { n1: open, n2: open }, volumes: { v: { copies: { n1: stopped, n2: 'healthy' } } } },
      { kept: 'im-n2' },
    ],
    'so it does though an engine keeps the other node: Longhorn lets that one go as soon as the engine has gone': [
      {
        isAutoscaled: true,
        nodes: { n1: open, n2: { manager: { engines: ['w'] } } },
        volumes: { v: { copies: { n1: 'healthy', n2: stopped } } },
      },
      { kept: 'im-n1 im-n2' },
    ],
    'a drain waits for the copy that runs, since the other node may be removed meanwhile': [
      {
        isAutoscaled: true,
        nodes: { n1: cordoned, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: stopped } } },
      },
      { kept: 'im-n1', mayDrain: 'n1: LastReplica' },
    ],
    'a copy that runs without a budget gets one, though a stopped one has one still': [
      { isAutoscaled: true, nodes: { n1: none, n2: open }, volumes: { v: { copies: { n1: 'healthy', n2: stopped } } } },
      { kept: 'im-n1' },
    ],
    'a third copy that runs is one to rely on, and the autoscaler may remove the other two nodes': [
      {
        isAutoscaled: true,
        nodes: { n1: open, n2: open, n3: open },
        volumes: { v: { copies: { n1: 'healthy', n2: stopped, n3: 'healthy' } } },
      },
      { kept: 'im-n3' },
    ],
    'copies that are all stopped hold nothing, not even together: that is what the policy says': [
      { isAutoscaled: true, nodes: { n1: open, n2: open }, volumes: { v: { copies: { n1: stopped, n2: stopped } } } },
      { kept: '' },
    ],
    'without the autoscaler a stopped copy on an open node keeps its budget, so a drain may rely on it': [
      { nodes: { n1: cordoned, n2: open }, volumes: { v: { copies: { n1: 'healthy', n2: stopped } } } },
      { kept: 'im-n2', mayDrain: 'n1: yes' },
    ],
  }
  tellDecisions(table, 'allow-if-replica-is-stopped')
})

describe('a copy that runs beside a stopped one, where the cluster is autoscaled', () => {
  const seen = (n1: { readonly isCordoned?: boolean }) =>
    decideLonghornDrain(
      longhornFixture({
        policy: 'allow-if-replica-is-stopped',
        isAutoscaled: true,
        nodes: { n1, n2: {} },
        volumes: { v: { copies: { n1: 'healthy', n2: { isStopped: true } } } },
      }),
    )

  it('has a budget of ours, since Longhorn lets both nodes go for the sake of each other', () => {
    expect(seen({}).budgets.map(({ node, wanted, hold }) => `${node}: ${wanted}, ${hold}`)).toEqual([
      'n1: present, needed',
      'n2: absent, needless',
    ])
  })

  it('says of the stopped one that it may go, so that it is clear why it is not relied on', () => {
    expect(seen({ isCordoned: true }).nodes[0]?.blockers[0]?.explanation).toBe(
      'Replica v-n1 is the last protected copy of volume v: v-n2 on n2 may go with its node by its policy.',
    )
  })
})
