import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { gist, longhornStage, managerView, type Stage } from './testing/longhorn-stage.ts'

const cordoned = { isCordoned: true }
const open = {}
type Gist = ReturnType<typeof gist>
type Row = readonly [Stage, Partial<Gist>]
type Table = Readonly<Record<string, Row>>

function tell(table: Table, policy: string | undefined): void {
  it.each(Object.entries(table))('%s', (_, [stage, expected]) => {
    const seen = gist(decideLonghornDrain(longhornStage(policy === undefined ? stage : { policy, ...stage })))
    const asked = Object.fromEntries(Object.keys(expected).map((key) => [key, seen[key as keyof Gist]]))
    expect(asked).toEqual(expected)
  })
}

const two = { n1: cordoned, n2: open }
const three = { n1: cordoned, n2: open, n3: open }

describe('block-if-contains-last-replica', () => {
  const table: Table = {
    'an open node keeps its budget, and a cordoned one that has nothing may go': [
      { nodes: two },
      { kept: 'im-n2', flags: '', auto: '', mayDrain: 'n1: yes' },
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
  tell(table, 'block-if-contains-last-replica')
})

describe('allow-if-replica-is-stopped', () => {
  const table: Table = {
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
  tell(table, 'allow-if-replica-is-stopped')
})

describe('always-allow', () => {
  const table: Table = {
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
  tell(table, 'always-allow')
})

describe('block-for-eviction', () => {
  const table: Table = {
    'every replica of a cordoned node moves, and holds it until it has moved': [
      { nodes: three, volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } }, w: { copies: { n1: 'healthy' } } } },
      {
        kept: 'im-n1 im-n2 im-n3',
        flags: '+v-n1 EvictionAutomatic, +w-n1 EvictionAutomatic',
        auto: '+n1',
        mayDrain: 'n1: ReplicaMoving',
      },
    ],
    'failed, unused and half-built replicas hold the node too': [
      { nodes: two, volumes: { v: { copies: { n1: 'failed', n2: 'healthy' } } } },
      { kept: 'im-n1 im-n2', flags: '+v-n1 EvictionAutomatic', mayDrain: 'n1: ReplicaMoving' },
    ],
    'an uncordoned node gets its replicas back to normal': [
      {
        nodes: { n1: { isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '-v-n1 EvictionCanceled', auto: '-n1', mayDrain: '' },
    ],
    'a second look changes nothing and tells nothing new': [
      {
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '=v-n1 EvictionAutomatic', auto: '' },
    ],
    'a node that falls silent stops evicting, for nobody could copy from it': [
      {
        nodes: { n1: { ...cordoned, kubernetes: 'silent', isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '-v-n1 KubernetesNodeNotReady', auto: '-n1' },
    ],
    'a strict-local replica is told as what it is: bound, and never gone by waiting': [
      { nodes: two, volumes: { v: { copies: { n1: 'healthy' }, isStrictLocal: true } } },
      { flags: '+v-n1 EvictionAutomatic', auto: '+n1', mayDrain: 'n1: StrictLocalReplica' },
    ],
    'for a reboot a replica with a protected copy elsewhere stays, and the node may go': [
      {
        nodes: { n1: { ...cordoned, isDraining: true, intent: 'Reboot' }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { kept: 'im-n2', flags: '', mayDrain: 'n1: yes' },
    ],
    'for a reboot the last copy still moves first': [
      {
        nodes: { n1: { ...cordoned, isDraining: true, intent: 'Reboot' }, n2: open },
        volumes: { v: { copies: { n1: 'healthy' } } },
      },
      { kept: 'im-n1 im-n2', flags: '+v-n1 EvictionAutomatic', mayDrain: 'n1: ReplicaMoving' },
    ],
    'a volume that asks for block-for-eviction itself moves for a reboot too': [
      {
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
      { kept: 'im-n1 im-n2', flags: '', auto: '', mayDrain: 'n1: ReplicaMustLeave' },
    ],
    'with the trigger drain the first attempt to evict moves the replicas': [
      {
        trigger: 'drain',
        nodes: { n1: { ...cordoned, isDraining: true }, n2: open },
        volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } },
      },
      { flags: '+v-n1 EvictionAutomatic', auto: '+n1' },
    ],
    'with the trigger drain a drain that pauses does not cancel what was begun': [
      {
        trigger: 'drain',
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '=v-n1 EvictionAutomatic', auto: '' },
    ],
  }
  tell(table, 'block-for-eviction')
})

describe('block-for-eviction-if-contains-last-replica', () => {
  const begun = { ...cordoned, isAutoEvicting: true }
  const flagged = { isEvictionRequested: true }
  const table: Table = {
    'of two volumes only the one without another copy moves': [
      {
        nodes: three,
        volumes: {
          one: { copies: { n1: 'healthy' } },
          v3: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } },
        },
      },
      { kept: 'im-n1 im-n2 im-n3', flags: '+one-n1 EvictionAutomatic', auto: '+n1', mayDrain: 'n1: ReplicaMoving' },
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
      { kept: 'im-n2', flags: '=v-n1 EvictionAutomatic', auto: '', mayDrain: 'n1: yes' },
    ],
    'a move for which nothing was made yet is cancelled when the volume turns out to be safe': [
      {
        nodes: { n1: begun, n2: open, n3: open },
        volumes: { v: { copies: { n1: flagged, n2: 'healthy', n3: 'healthy' } } },
      },
      { flags: '-v-n1 EvictionCanceled', auto: '-n1', mayDrain: 'n1: yes' },
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
  tell(table, 'block-for-eviction-if-contains-last-replica')
})

describe('what users ask for', () => {
  const askedDisk = (node: string) => [{ uuid: `disk-${node}`, isEvictionAsked: true }]
  const table: Table = {
    'a disk that is to be emptied is emptied without a cordon, and that is not automatic': [
      { nodes: { n1: { disks: askedDisk('n1') }, n2: open }, volumes: { v: { copies: { n1: 'healthy' } } } },
      { flags: '+v-n1 EvictionUserRequested', auto: '' },
    ],
    'a node that a user empties and that is cordoned too is emptied for the user': [
      {
        policy: 'block-for-eviction',
        nodes: { n1: { ...cordoned, isEvictionAsked: true, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: 'healthy' } } },
      },
      { flags: '+v-n1 EvictionUserRequested', auto: '-n1' },
    ],
    'one disk for the user and one by policy make the node evict automatically': [
      {
        policy: 'block-for-eviction',
        nodes: { n1: { ...cordoned, disks: askedDisk('n1') }, n2: open },
        volumes: { v: { copies: { n1: 'healthy' } }, w: { copies: { n1: { diskUuid: 'other' } } } },
      },
      { flags: '+v-n1 EvictionUserRequested, +w-n1 EvictionAutomatic', auto: '+n1' },
    ],
    'a policy that moves nothing cancels what another one began': [
      {
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '-v-n1 EvictionCanceled', auto: '-n1' },
    ],
    'a replica that is being deleted is not written to': [
      { nodes: two, volumes: { v: { copies: { n1: { isEvictionRequested: true, isBeingDeleted: true } } } } },
      { flags: '=v-n1 EvictionAutomatic' },
    ],
  }
  tell(table, undefined)
})

describe('policies of volumes', () => {
  const table: Table = {
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
  tell(table, undefined)
})

describe('what is unknown', () => {
  const table: Table = {
    'an unknown policy holds last copies and moves nothing': [
      { policy: 'block-sometimes', nodes: two, volumes: { v: { copies: { n1: 'healthy' } } } },
      { kept: 'im-n1 im-n2', flags: '', mayDrain: 'n1: DrainPolicyUnknown' },
    ],
    'a setting that is missing does not hold a node whose volumes are safe': [
      { policy: undefined, nodes: two, volumes: { v: { copies: { n1: 'healthy', n2: 'healthy' } } } },
      { kept: 'im-n2', flags: '', mayDrain: 'n1: yes' },
    ],
    'a setting that is unreadable for a moment cancels no move': [
      {
        policy: undefined,
        nodes: { n1: { ...cordoned, isAutoEvicting: true }, n2: open },
        volumes: { v: { copies: { n1: { isEvictionRequested: true }, n2: 'healthy' } } },
      },
      { flags: '=v-n1 EvictionAutomatic', auto: '' },
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
  tell(table, undefined)
})

describe('an autoscaled cluster', () => {
  const copies = { n1: 'healthy', n2: 'healthy', n3: 'healthy' } as const
  const none = { hasBudget: false }
  const table: Table = {
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
  tell(table, undefined)
})
