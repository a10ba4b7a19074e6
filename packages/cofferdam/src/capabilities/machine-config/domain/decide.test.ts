import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { known } from '../../../shared/observed.ts'
import { decideMachineConfig } from './decide.ts'
import { parseConfiguredNode } from './parse-node.ts'
import { parsePool } from './parse-pool.ts'

const prefix = 'machineconfiguration.openshift.io'

function node(desired: string, lastApplied: string, spec: object = { unschedulable: true }) {
  const annotations = { [`${prefix}/desiredDrain`]: desired, [`${prefix}/lastAppliedDrain`]: lastApplied }
  const status = { nodeInfo: { bootID: 'boot-1' } }
  return parseConfiguredNode({ metadata: { name: 'worker-1', annotations }, spec, status } as never)
}

const request = (phase: string) =>
  ({
    metadata: { name: 'made', uid: 'R1', labels: { 'cofferdam.io/made-for': 'machine-config' } },
    spec: { nodeName: 'worker-1' },
    status: { phase },
  }) as unknown as NodeDisruption

const drain = 'drain-rendered-worker-2'
const before = 'uncordon-rendered-worker-1'

const cases: Record<string, { node: ReturnType<typeof node>; requests?: NodeDisruption[]; then: string[] }> = {
  'a node that is to be drained for an update gets a request that says which': {
    node: node(drain, before),
    then: ['request: update to rendered-worker-2'],
  },
  'one that is not cordoned yet gets none: the cordon would be ours, and lifted before the update is checked': {
    node: node(drain, before, {}),
    then: [],
  },
  'a node that was drained and is about to reboot keeps its request': {
    node: node(drain, drain),
    requests: [request('Drained')],
    then: [],
  },
  'a node that is back keeps its request until it is uncordoned': {
    node: node('uncordon-rendered-worker-2', drain),
    requests: [request('Recovering')],
    then: [],
  },
  'a node that is back and whose request is over gets no second one: it would be drained after its reboot': {
    node: node(drain, drain),
    requests: [request('Completed')],
    then: [],
  },
  'a node that was emptied while its request waited is not drained once more: the request is withdrawn': {
    node: node(drain, drain),
    requests: [request('Waiting')],
    then: ['withdrawal'],
  },
  'a node whose update is done has its request withdrawn': {
    node: node('uncordon-rendered-worker-2', 'uncordon-rendered-worker-2', {}),
    requests: [request('Draining')],
    then: ['withdrawal'],
  },
  'a node that was never updated wants nothing': { node: node('', ''), then: [] },
  'a wish that is neither of the two is nothing to act on': { node: node('reboot-now', ''), then: [] },
}

describe('requests for nodes that get another configuration', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { node: seen, requests = [], then }) => {
    const { steps } = decideMachineConfig({ pools: [], nodes: [seen], requests: known(requests), nowMs: 0 })
    const texts = steps.map((step) => (step.write === 'request' ? `request: ${step.request.spec.reason}` : step.write))
    expect(texts).toEqual(then)
  })

  it('drain as the Machine Config Operator does: a pod that stayed would be evicted by it without end', () => {
    const snapshot = { pools: [], nodes: [node(drain, before)], requests: known([]), nowMs: 0 }
    const [step] = decideMachineConfig(snapshot).steps
    expect(step?.write === 'request' ? step.request.spec : undefined).toMatchObject({
      intent: 'Reboot',
      honourSkipDrain: false,
      force: true,
      deleteEmptyDirData: true,
    })
  })

  const labels = { worker: '', gpu: '', fast: '' }
  const pool = (name: string) =>
    parsePool({ metadata: { name }, spec: { nodeSelector: { matchLabels: { [name]: '' } } } } as never)
  const askers: Record<string, [pools: string[], askedBy: string]> = {
    'its pool, which the administrator can pause': [['worker'], 'machineconfigpool/worker'],
    'its pool of the administrator, whose rules count before those of workers': [
      ['worker', 'gpu'],
      'machineconfigpool/gpu',
    ],
    'the node alone when two pools claim it: one of them would be blamed, and paused, for the other': [
      ['worker', 'gpu', 'fast'],
      'node/worker-1',
    ],
  }
  it.each(Object.entries(askers))('name %s', (_sentence, [names, askedBy]) => {
    const nodes = [{ ...node(drain, before), labels }]
    const { steps } = decideMachineConfig({ pools: names.map(pool), nodes, requests: known([]), nowMs: 0 })
    const asked = steps.flatMap((step) => (step.write === 'request' ? [step.request.metadata.annotations] : []))
    expect(asked).toEqual([{ 'cofferdam.io/asked-by': askedBy }])
  })
})
