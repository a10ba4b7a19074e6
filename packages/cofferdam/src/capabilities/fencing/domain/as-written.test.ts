import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { asWritten, pendingFor } from './as-written.ts'
import { decideFencing } from './decide.ts'
import { type FencingObjects, parseFencing } from './parse-fencing.ts'
import {
  exampleCluster,
  exampleMachine,
  exampleNode,
  exampleRequest,
  minute,
  nodesCheck,
  rebootsOf,
  settled,
  smallFencing,
  startMs,
  workersCheck,
} from './testing/small-fencing.ts'

const missing = 'What keeps remediators from it is not set yet'
const awayA = [exampleNode('a', { sickSinceMs: startMs - minute }), exampleNode('b'), exampleNode('c')]
const planned: FencingObjects = smallFencing({
  clusters: [],
  nodes: awayA,
  reboots: rebootsOf(exampleRequest('a')),
})

function written(objects: FencingObjects) {
  const snapshot = parseFencing(objects)
  return asWritten(snapshot, decideFencing(snapshot))
}

function saysMissing(objects: FencingObjects): boolean {
  return (
    written(objects)
      .nodes.find(({ node }) => node === 'a')
      ?.explanation.includes(missing) === true
  )
}

describe('a planned outage as it is in force', () => {
  const onlyB = { ...workersCheck, spec: { selector: { matchLabels: { node: 'b' } } } }
  const machineB = exampleMachine('b', { metadata: { name: 'm-b', labels: { node: 'b' } } })
  const awayB = exampleNode('b', { sickSinceMs: startMs - minute })
  const both = rebootsOf(exampleRequest('a'), exampleRequest('b'))
  const capiCheck = { ...workersCheck, apiVersion: 'cluster.x-k8s.io/v1beta2' }
  const capi = (...machines: ReturnType<typeof exampleMachine>[]): Partial<FencingObjects> => ({
    openshiftMachines: undefined,
    clusterApiMachines: machines,
    clusterApiHealthChecks: [capiCheck],
  })
  const cases: Record<string, [FencingObjects, boolean]> = {
    'protects nothing yet where the check that would delete its Machine is not paused': [
      { ...planned, openshiftHealthChecks: [workersCheck] },
      true,
    ],
    'protects once that check is paused': [settled({ ...planned, openshiftHealthChecks: [workersCheck] }), false],
    'protects though a check of other machines is not paused yet: it would not take this one': [
      {
        ...planned,
        nodes: [awayA[0] as never, awayB, exampleNode('c')],
        reboots: both,
        openshiftMachines: [exampleMachine('a'), machineB, exampleMachine('c')],
        openshiftHealthChecks: [onlyB],
      },
      false,
    ],
    'protects nothing yet where its Lease is not held': [
      { ...planned, openshiftMachines: undefined, nodeHealthChecks: [nodesCheck], leases: [] },
      true,
    ],
    'protects nothing yet where its Machine is not skipped': [{ ...planned, ...capi(exampleMachine('a')) }, true],
    'protects though a Machine of the same name in another namespace is not skipped yet': [
      {
        ...settled({ ...planned, ...capi(exampleMachine('a')) }),
        nodes: [awayA[0] as never, awayB, exampleNode('c')],
        reboots: both,
        clusterApiHealthChecks: ['openshift-machine-api', 'elsewhere'].map((namespace) => ({
          ...capiCheck,
          metadata: { namespace, name: 'workers' },
        })),
        clusterApiMachines: [
          exampleMachine('b', { metadata: { name: 'm-a', namespace: 'elsewhere' } }),
          ...(settled({ ...planned, ...capi(exampleMachine('a')) }).clusterApiMachines ?? []),
        ],
      },
      false,
    ],
    'protects a node without a Machine though those of others are not skipped yet': [
      {
        ...planned,
        ...capi(exampleMachine('b')),
        nodes: [awayA[0] as never, awayB, exampleNode('c')],
        reboots: both,
      },
      false,
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [objects, then]) => {
    expect(saysMissing(objects)).toBe(then)
  })
})

describe('a machine that may be fenced and is still kept', () => {
  const free = smallFencing({ clusters: [] })
  const hooked = exampleMachine('a', {
    spec: { lifecycleHooks: { preTerminate: [{ name: 'cofferdam-fencing', owner: 'cofferdam.io/fencing' }] } },
  })
  const skipped = exampleMachine('a', {
    metadata: {
      name: 'm-a',
      annotations: {
        'cluster.x-k8s.io/skip-remediation': 'cofferdam',
        'cofferdam.io/set-by-fencing': 'skip-remediation',
      },
    },
  })
  const cases: Record<string, [FencingObjects, string | undefined]> = {
    'says so of our hook, or its owner waits for a deletion that never ends': [
      { ...free, openshiftMachines: [hooked] },
      'Nothing holds it any more, but the pre-terminate hook cofferdam-fencing still keeps it from being fenced.',
    ],
    'says so of the annotation by which Cluster API passes it over': [
      { ...free, openshiftMachines: undefined, clusterApiMachines: [skipped] },
      'Nothing holds it any more, but the annotation cluster.x-k8s.io/skip-remediation still keeps it from being fenced.',
    ],
    'says nothing where nothing keeps it': [free, undefined],
  }
  it.each(Object.entries(cases))('%s', (_, [objects, then]) => {
    const snapshot = parseFencing(objects)
    expect(pendingFor(snapshot, snapshot.machines[0])?.explanation).toBe(then)
  })

  it('is none where a node has no Machine: nothing of ours is on it', () => {
    expect(pendingFor(parseFencing(free), undefined)).toBeUndefined()
  })

  it('that has lost its node keeps no other from being fenced', () => {
    const { status: _, ...nodeless } = exampleMachine('x')
    const cluster = exampleCluster(['a', 'b', 'c'], { heldBy: known([]) })
    const calm = settled(smallFencing({ clusters: [cluster] }))
    const objects = { ...calm, openshiftMachines: [...(calm.openshiftMachines ?? []), nodeless] }
    expect(written(objects).nodes.map(({ node, mayFence }) => [node, mayFence])).toEqual([
      ['a', true],
      ['b', true],
      ['c', true],
    ])
  })
})
