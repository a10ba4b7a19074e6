import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { askedByAnnotation, madeForLabel } from '../../../shared/made-for.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decideMachineDeletion } from './decide.ts'
import { deadAfterMs } from './judge-machine.ts'
import type { MachineDeletionSnapshot, MachineNode, MachineView } from './snapshot.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const node: MachineNode = { name: 'worker-1', uid: 'N1', isReady: true, readyChangedMs: 0, providerID: 'cloud:///1' }
const unready = (sinceMs: number): MachineNode => ({ ...node, isReady: false, readyChangedMs: nowMs - sinceMs })

function machine(more: Partial<MachineView> = {}): MachineView {
  return {
    api: 'cluster-api',
    namespace: 'default',
    name: 'pool-1',
    uid: 'M1',
    resourceVersion: '7',
    isOptedIn: true,
    hooks: { isOurs: true, others: [] },
    isPaused: false,
    isExcluded: false,
    nodeName: 'worker-1',
    ...more,
  }
}
const deleted = (more: Partial<MachineView> = {}) => machine({ deletedSinceMs: nowMs - 1_000, ...more })

type Request = Partial<NodeDisruption['metadata']> & {
  readonly phase?: string
  readonly intent?: string
  nodeUid?: string
}

function request({ phase, intent = 'Remove', nodeUid, ...metadata }: Request = {}): NodeDisruption {
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: {
      name: 'standing',
      uid: 'R1',
      labels: { [madeForLabel]: 'machine-deletion' },
      annotations: { [askedByAnnotation]: 'machine/default/pool-1' },
      ...metadata,
    },
    spec: { nodeName: 'worker-1', intent, honourSkipDrain: false },
    status: { ...(phase === undefined ? {} : { phase }), ...(nodeUid === undefined ? {} : { nodeUid }) },
  } as NodeDisruption
}
const ofAnn = (more: Request) => request({ labels: {}, ...more })

function decided(given: { machines?: MachineView[]; nodes?: MachineNode[]; requests?: NodeDisruption[] }): string[] {
  const { machines = [deleted()], nodes = [node], requests = [] } = given
  const { steps } = decideMachineDeletion({
    machines: known(machines),
    nodes: known(nodes),
    requests: known(requests),
    nowMs,
  })
  return steps.map((step) => {
    if (step.do === 'report') return `${step.type} ${step.reason}`
    if (step.write === 'hook') return `${step.isWanted ? 'hook' : 'unhook'} ${step.machine.name}`
    return step.write === 'request' ? `request ${step.request.spec.nodeName}` : `withdraw ${step.name}`
  })
}

const drained = ['unhook pool-1', 'Normal MachineDrained']
const withoutNode = ['unhook pool-1', 'Normal MachineNotDrained']
const withoutDrain = ['unhook pool-1', 'Warning MachineNotDrained']

const rows: Record<string, readonly [Parameters<typeof decided>[0], readonly string[]]> = {
  'a Machine whose owner asks for it gets the hook while it lives: later it would be too late': [
    { machines: [machine({ hooks: { isOurs: false, others: [] } })] },
    ['hook pool-1'],
  ],
  'a Machine that has the hook and lives is left as it is, or it would be written again at every pass': [
    { machines: [machine()] },
    [],
  ],
  'a Machine that lives and is paused gets no hook: a copy that clusterctl moves would be changed on its way': [
    { machines: [machine({ isPaused: true, hooks: { isOurs: false, others: [] } })] },
    [],
  ],
  'a Machine without the mark is left alone, or nothing could be deleted unasked': [
    { machines: [deleted({ isOptedIn: false, hooks: { isOurs: false, others: [] } })] },
    [],
  ],
  'a Machine that loses the mark loses the hook, also while it is being deleted: that is the way out': [
    { machines: [deleted({ isOptedIn: false })] },
    ['unhook pool-1'],
  ],
  'a Machine that is being deleted without the hook gets none: OpenShift refuses it': [
    { machines: [deleted({ hooks: { isOurs: false, others: [] } })] },
    ['request worker-1'],
  ],
  'the node of a Machine that is being deleted is asked for, and the hook stays': [{}, ['request worker-1']],
  'while its request waits or drains the hook stays': [{ requests: [request({ phase: 'Draining' })] }, []],
  'once its node is drained it may go': [{ requests: [request({ phase: 'Drained' })] }, drained],
  'a node that an administrator has drained to remove it is not drained twice: each would wait for the other': [
    { requests: [ofAnn({ phase: 'Drained' })] },
    drained,
  ],
  'our own request behind the one of an administrator is withdrawn when that one is drained': [
    { requests: [request({ phase: 'Waiting' }), ofAnn({ name: 'of-ann', phase: 'Drained' })] },
    ['withdraw standing', ...drained],
  ],
  'a node that was drained for a reboot has pods that stayed: it is asked for': [
    { requests: [ofAnn({ phase: 'Drained', intent: 'Reboot' })] },
    ['request worker-1'],
  ],
  'a drain of a node that had the name before does not count': [
    { requests: [ofAnn({ phase: 'Drained', nodeUid: 'N0' })] },
    ['request worker-1'],
  ],
  'a request that is being cancelled does not count': [
    { requests: [ofAnn({ phase: 'Drained', deletionTimestamp: '2026-01-01T00:00:00Z' })] },
    ['request worker-1'],
  ],
  'a node that was uncordoned after its drain is drained once more: the deletion goes on': [
    { requests: [request({ phase: 'Completed' })] },
    ['request worker-1'],
  ],
  'a Machine whose node is gone may go': [{ nodes: [] }, withoutNode],
  'a Machine without our hook whose node is gone is not touched: there is nothing to take away and nothing to say': [
    { machines: [deleted({ hooks: { isOurs: false, others: [] } })], nodes: [] },
    [],
  ],
  'a Machine that never had a node may go': [{ machines: [withoutName()] }, withoutNode],
  'a node that is known by its provider alone is drained: Cluster API would find it too': [
    { machines: [{ ...withoutName(), providerID: 'cloud:///1' }] },
    ['request worker-1'],
  ],
  'a node of another cluster with the same name is not touched': [
    { machines: [deleted({ providerID: 'cloud:///other' })] },
    withoutNode,
  ],
  'a node that has come under the name of the former one is not touched': [
    { machines: [deleted({ nodeUid: 'N0' })] },
    withoutNode,
  ],
  'a request whose node is gone is left to end by itself, with its record': [
    { machines: [], nodes: [], requests: [request({ phase: 'Drained' })] },
    [],
  ],
  'a request whose Machine is gone while the node is there is withdrawn': [
    { machines: [], requests: [request({ phase: 'Drained' })] },
    ['withdraw standing'],
  ],
  'a request of a person for a node that is gone makes none of ours': [
    { machines: [], nodes: [], requests: [ofAnn({ phase: 'Drained' })] },
    [],
  ],
  'a node that is not Ready for a moment is waited for': [{ nodes: [unready(60_000)] }, ['request worker-1']],
  'a dead node is not drained, or no health check could replace it': [{ nodes: [unready(deadAfterMs)] }, withoutDrain],
  'a dead node whose request waits for storage is given up: the fence may hold that very storage': [
    { nodes: [unready(deadAfterMs)], requests: [request({ phase: 'Waiting' })] },
    ['withdraw standing', ...withoutDrain],
  ],
  'a dead node whose request no operator has read yet is given up too: it holds nothing': [
    { nodes: [unready(deadAfterMs)], requests: [request()] },
    ['withdraw standing', ...withoutDrain],
  ],
  'a node that dies in the middle of its drain stays cordoned and held until it is gone': [
    { nodes: [unready(deadAfterMs)], requests: [request({ phase: 'Draining' })] },
    withoutDrain,
  ],
  'a dead node with a time that has not come yet counts from the deletion': [
    { machines: [deleted({ deletedSinceMs: nowMs - deadAfterMs })], nodes: [unready(-3_600_000)] },
    withoutDrain,
  ],
  'a Machine that is excluded from draining goes without one: its owner wrote so on it': [
    { machines: [deleted({ isExcluded: true })] },
    withoutDrain,
  ],
  'a Machine that is paused is left as it is: its machine controller does nothing either': [
    { machines: [deleted({ isPaused: true })] },
    [],
  ],
}

describe('Machines that are deleted', () => {
  it.each(Object.entries(rows))('%s', (_sentence, [given, then]) => {
    expect(decided(given)).toEqual(then)
  })

  const blind: Record<string, Partial<MachineDeletionSnapshot>> = {
    'Machines are not known': { machines: unknown('not read') },
    'nodes are not known: each would count as gone, and every hook would be taken away': { nodes: unknown('not read') },
    'requests are not known: each would be made again': { requests: unknown('not read') },
  }
  it.each(Object.entries(blind))('nothing is done while %s', (_sentence, given) => {
    const all = { machines: known([deleted()]), nodes: known([]), requests: known([]), nowMs }
    expect(decideMachineDeletion({ ...all, ...given }).steps).toEqual([])
  })

  it('a node that is not Ready is judged again when it would count as dead', () => {
    const seen = { machines: known([deleted()]), nodes: known([unready(60_000)]), requests: known([]), nowMs }
    expect(decideMachineDeletion(seen).recheckAfterMs).toBe(deadAfterMs - 60_000)
  })
})

function withoutName(): MachineView {
  const { nodeName: _, ...rest } = deleted()
  return rest
}
