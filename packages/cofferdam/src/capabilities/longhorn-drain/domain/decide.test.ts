import { describe } from 'vitest'
import { managerView } from './testing/longhorn-fixture.ts'
import { type DecisionTable, tellDecisions } from './testing/tell-decisions.ts'

const cordoned = { isCordoned: true }
const open = {}
const two = { n1: cordoned, n2: open }
const three = { n1: cordoned, n2: open, n3: open }

describe('block-if-contains-last-replica', () => {
  const table: DecisionTable = {
    'an open node keeps its budget, and a cordoned one that has nothing may go': [
      { nodes: two },
      { kept: 'im-n2', flags: '', mayDrain: 'n1: yes' },
    ],
    'a healthy volume of three copies lets the first node go': [
      { nodes: three, volumes: { v: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } } } },
      { kept: 'im-n2 im-n3', flags: '', mayDrain: 'n1: yes' },
    ],
    'the only copy of a volume that is attached elsewhere holds its node, and nothing moves': [
      { nodes: two, volumes: { v: { copies: { n1: 'healthy' }, attachedTo: 'n2' } } },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: LastReplica' },
    ],
    'a stopped last copy holds its node as well': [
      { nodes: two, volumes: { v: { copies: { n1: { isStopped: true } } } } },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: LastReplica' },
    ],
    'an engine on the node holds it though every volume is safe': [
      {
        nodes: { ...two, n1: { ...cordoned, manager: { engines: ['v'] } } },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: VolumeAttached' },
    ],
    'a volume that was never attached holds no node': [
      { nodes: { n1: cordoned, n2: cordoned }, volumes: { v: { copies: { n1: 'unused', n2: 'unused' } } } },
      { kept: '', mayDrain: 'n1: yes, n2: yes' },
    ],
    'a copy that is being rebuilt on the node does not hold it': [
      { nodes: two, volumes: { v: { copies: { n1: 'rebuilding', n2: 'healthy' } } } },
      { kept: 'im-n2', mayDrain: 'n1: yes' },
    ],
    'a copy that is being rebuilt elsewhere is no protection yet': [
      { nodes: two, volumes: { v: { copies: { n1: 'healthy', n2: 'rebuilding' } } } },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: LastReplica' },
    ],
    'a failed copy elsewhere is no protection': [
      { nodes: two, volumes: { v: { copies: { n1: 'healthy', n2: 'failed' } } } },
      { mayDrain: 'n1: LastReplica' },
    ],
    'a failed copy on the node holds it as long as no other is protected': [
      { nodes: two, volumes: { v: { copies: { n1: 'failed', n2: 'failed' }, robustness: 'faulted' } } },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: VolumeFaulted' },
    ],
    'a copy whose instance manager does not run is no protection, as on a node without power': [
      {
        nodes: { n1: cordoned, n2: { manager: { isRunning: false } } },
        volumes: { v: { copies: { n1: { isStopped: true }, n2: { isStopped: true } } } },
      },
      { kept: 'im-n1', mayDrain: 'n1: LastReplica' },
    ],
    'a copy on a node that fell silent a moment ago is not relied on': [
      {
        nodes: { n1: cordoned, n2: { kubernetes: 'silent' } },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { mayDrain: 'n1: LastReplica' },
    ],
    'a copy without a budget is no protection': [
      {
        nodes: { n1: cordoned, n2: { hasBudget: false } },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: LastReplica' },
    ],
    'a copy that is being deleted is no protection': [
      { nodes: two, volumes: { v: { copies: { n1: 'healthy', n2: { isBeingDeleted: true } } } } },
      { mayDrain: 'n1: LastReplica' },
    ],
    'a node whose object is gone is an unprotected copy and no error: others still let go': [
      {
        nodes: { n1: cordoned, n2: { kubernetes: 'absent' }, n3: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } } },
      },
      { kept: 'im-n3', mayDrain: 'n1: yes' },
    ],
    'two cordoned nodes with the only two copies are both held': [
      {
        nodes: { n1: cordoned, n2: cordoned },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: LastReplica, n2: LastReplica' },
    ],
    'two cordoned nodes may both go when a third has a protected copy': [
      {
        nodes: { n1: cordoned, n2: cordoned, n3: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } } },
      },
      { kept: 'im-n3', mayDrain: 'n1: yes, n2: yes' },
    ],
    'two copies on one node hold it together': [
      {
        nodes: two,
        volumes: { v: { copies: { n1: 'healthy', other: { node: 'n1', instanceManager: 'im-n1' } } } },
      },
      { mayDrain: 'n1: LastReplica' },
    ],
    'a budget that went is made again when the copy elsewhere fails before the pod was evicted': [
      {
        nodes: { n1: { ...cordoned, hasBudget: false }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'failed' } } },
      },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: LastReplica' },
    ],
    'a budget that went is made again when the node of the copy elsewhere stops answering, whatever its instance manager is said to do':
      [
        {
          nodes: { n1: { ...cordoned, hasBudget: false }, n2: { kubernetes: 'silent' } },
          volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
        },
        { kept: 'im-n1 im-n2', mayDrain: 'n1: LastReplica' },
      ],
    'a kubelet that is NotReady for a moment holds no other node: every hiccup would stop a drain': [
      {
        nodes: { n1: { ...cordoned, hasBudget: false }, n2: { isBlipping: true } },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n2', mayDrain: 'n1: yes' },
    ],
    'a budget of ours stays while the kubelet of the only other copy is NotReady: the last copy was free for 14 seconds, and then was the last':
      [
        {
          nodes: { n1: { ...cordoned, hasBudget: false, isHeld: true }, n2: { isBlipping: true } },
          volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
        },
        { kept: 'im-n1 im-n2', mayDrain: 'n1: LastReplica' },
      ],
    'a budget of ours goes when that kubelet is Ready again': [
      {
        nodes: { n1: { ...cordoned, hasBudget: false, isHeld: true }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n2', mayDrain: 'n1: yes' },
    ],
    'a budget of ours goes for a third copy whose node answers': [
      {
        nodes: { n1: { ...cordoned, hasBudget: false, isHeld: true }, n2: { isBlipping: true }, n3: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } } },
      },
      { kept: 'im-n2 im-n3', mayDrain: 'n1: yes' },
    ],
    'each instance manager of a node is held by all of its replicas, whatever image and engine': [
      {
        nodes: two,
        managers: [managerView('n1', { name: 'im-n1-old' }), managerView('n1', { name: 'im-n1-v2', dataEngine: 'v2' })],
        moreBudgets: ['im-n1-old', 'im-n1-v2'],
        volumes: { v: { copies: { n1: 'healthy' } } },
      },
      { kept: 'im-n1 im-n1-old im-n1-v2 im-n2' },
    ],
    'an instance manager for engines alone goes when it has none, though replicas hold the node': [
      {
        nodes: two,
        managers: [managerView('n1', { name: 'instance-manager-e-1', type: 'engine' })],
        moreBudgets: ['instance-manager-e-1'],
        volumes: { v: { copies: { n1: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2' },
    ],
    'an engine in an old instance manager holds the new one too': [
      {
        nodes: two,
        managers: [managerView('n1', { name: 'instance-manager-e-1', type: 'engine', engines: ['v'] })],
        moreBudgets: ['instance-manager-e-1'],
        volumes: { v: { copies: { n2: 'healthy' } } },
      },
      { kept: 'im-n1 instance-manager-e-1 im-n2', mayDrain: 'n1: VolumeAttached' },
    ],
  }
  tellDecisions(table, 'block-if-contains-last-replica')
})

describe('allow-if-replica-is-stopped', () => {
  const table: DecisionTable = {
    'a stopped last copy lets its node go': [
      { nodes: { n1: cordoned }, volumes: { v: { copies: { n1: { isStopped: true } }, state: 'detached' } } },
      { kept: '', flags: '', mayDrain: 'n1: yes' },
    ],
    'a running last copy holds its node': [
      { nodes: two, volumes: { v: { copies: { n1: 'healthy' } } } },
      { kept: 'im-n1 im-n2', mayDrain: 'n1: LastReplica' },
    ],
    'a copy that should be stopped but is in error is not stopped, and holds its node': [
      { nodes: two, volumes: { v: { copies: { n1: { isStopped: false } } } } },
      { mayDrain: 'n1: LastReplica' },
    ],
    'an engine holds the node although every replica is stopped': [
      {
        nodes: { n1: { ...cordoned, manager: { engines: ['v'] } } },
        volumes: { v: { copies: { n1: { isStopped: true } } } },
      },
      { kept: 'im-n1', mayDrain: 'n1: VolumeAttached' },
    ],
  }
  tellDecisions(table, 'allow-if-replica-is-stopped')
})

describe('always-allow', () => {
  const table: DecisionTable = {
    'the last copy of a volume lets its node go': [
      { nodes: two, volumes: { v: { copies: { n1: 'healthy' } } } },
      { kept: 'im-n2', flags: '', mayDrain: 'n1: yes' },
    ],
    'an engine holds the node even here': [
      { nodes: { n1: { ...cordoned, manager: { engines: ['v'] } } }, volumes: { v: { copies: { n1: 'healthy' } } } },
      { kept: 'im-n1', mayDrain: 'n1: VolumeAttached' },
    ],
    'a replica that cannot be read does not hold the node, since none would': [
      { nodes: two, unreadable: [{ object: 'replica/x', why: 'spec is not an object', node: 'n1' }] },
      { mayDrain: 'n1: yes' },
    ],
  }
  tellDecisions(table, 'always-allow')
})
