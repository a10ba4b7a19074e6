import { describe } from 'vitest'
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
  }
  tellDecisions(table)
})
