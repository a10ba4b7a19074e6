import type { NodeMaintenance } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { decideMaintenance } from './decide.ts'
import { parseMaintainedNode, parseMaintenance } from './parse-maintenance.ts'
import type { MaintenanceSnapshot } from './snapshot.ts'

const drainTaint = { key: 'medik8s.io/drain', effect: 'NoSchedule' }
const taken = { unschedulable: true, taints: [drainTaint] }

function node(spec: object, bootID = 'boot-1') {
  return { metadata: { name: 'worker-1' }, spec, status: { nodeInfo: { bootID } } } as never
}

function maintenance(change: { metadata?: object; spec?: unknown; status?: unknown } = {}): NodeMaintenance {
  return {
    apiVersion: 'nodemaintenance.medik8s.io/v1beta1',
    kind: 'NodeMaintenance',
    metadata: { name: 'rack-2', uid: 'M1', ...change.metadata },
    spec: change.spec ?? { nodeName: 'worker-1', reason: 'new firmware' },
    ...(change.status === undefined ? {} : { status: change.status }),
  } as NodeMaintenance
}

function decide(objects: readonly NodeMaintenance[], nodes: readonly never[]): string[] {
  const parsed = objects.map(parseMaintenance)
  const snapshot: MaintenanceSnapshot = {
    maintenances: parsed.flatMap((each) => (each.is === 'asking' ? [each.maintenance] : [])),
    unusable: parsed.flatMap((each) => (each.is === 'unusable' ? [each.unusable] : [])),
    nodes: new Map(nodes.map((each) => [parseMaintainedNode(each).name, parseMaintainedNode(each)])),
    requests: known([]),
  }
  return decideMaintenance(snapshot).steps.flatMap((step) => {
    if (step.do === 'report') return step.unusable.map(({ about, why }) => `${about.metadata.name}: ${why}`)
    return step.write === 'request' ? [`request for ${step.request.spec.nodeName}: ${step.request.spec.reason}`] : []
  })
}

const asked = ['request for worker-1: new firmware']

const cases: Record<string, { objects: readonly NodeMaintenance[]; nodes: readonly never[]; then: string[] }> = {
  'a node that is taken into maintenance gets a request with the reason of whoever wants it': {
    objects: [maintenance()],
    nodes: [node(taken)],
    then: asked,
  },
  'a node that is not tainted yet gets none: its Lease would be gone before its operator asks for it': {
    objects: [maintenance()],
    nodes: [node({ unschedulable: true })],
    then: [],
  },
  'a node that is tainted and not cordoned yet gets none: the cordon would be ours, and lifted after the first reboot':
    {
      objects: [maintenance()],
      nodes: [node({ taints: [drainTaint] })],
      then: [],
    },
  'a maintenance that is deleted asks for nothing: its operator gives the node back': {
    objects: [maintenance({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
    nodes: [node(taken)],
    then: [],
  },
  'a maintenance that has failed asks for nothing: its operator has given the node back': {
    objects: [maintenance({ status: { phase: 'Failed' } })],
    nodes: [node(taken)],
    then: [],
  },
  'one that has emptied the node still asks: the node may go at any time': {
    objects: [maintenance({ status: { phase: 'Succeeded' } })],
    nodes: [node(taken)],
    then: asked,
  },
  'a node that is not there gets no request': { objects: [maintenance()], nodes: [], then: [] },
  'an object that cannot be read is named, and the others are served': {
    objects: [maintenance({ metadata: { name: 'odd' }, spec: { nodeName: 7 } }), maintenance()],
    nodes: [node(taken)],
    then: [...asked, 'odd: spec.nodeName is not the name of a node'],
  },
  'one without a spec is named too': {
    objects: [maintenance({ spec: 'nothing' })],
    nodes: [node(taken)],
    then: ['rack-2: spec.nodeName is not the name of a node'],
  },
  'where no reason is given, the request names the object': {
    objects: [maintenance({ spec: { nodeName: 'worker-1' } })],
    nodes: [node(taken)],
    then: ['request for worker-1: NodeMaintenance rack-2'],
  },
  'a node whose kubelet has not said which boot it is gets its request all the same: it goes in any case': {
    objects: [maintenance()],
    nodes: [{ metadata: { name: 'worker-1' }, spec: taken } as never],
    then: asked,
  },
  'taints that are no list are none: the node is not taken': {
    objects: [maintenance()],
    nodes: [node({ unschedulable: true, taints: 'many' })],
    then: [],
  },
}

describe('requests for nodes in maintenance', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { objects, nodes, then }) => {
    expect(decide(objects, nodes)).toEqual(then)
  })
})
