import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import type { FencingObjects } from './parse-fencing.ts'
import {
  decide,
  exampleCluster,
  exampleMachine,
  exampleNode,
  minute,
  nodesCheck,
  settled,
  smallFencing,
  startMs,
  workersCheck,
} from './testing/small-fencing.ts'

const three = ['a', 'b', 'c']
const dirty = exampleCluster(three, {
  evidence: known({ polledAtMs: startMs, isClean: known(false), upOsds: new Set([0, 1, 2]) }),
})
const sick = (...names: string[]) =>
  three.map((name, at) => exampleNode(name, names.includes(name) ? { sickSinceMs: startMs - 10 * minute + at } : {}))

function lease(holderIdentity: string, renewedMs: number): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'node-a', namespace: 'medik8s-leases' },
    spec: { holderIdentity, leaseDurationSeconds: 3_600, renewTime: rfc3339(renewedMs) },
  }
}

function gates(objects: FencingObjects): string[] {
  return decide(objects).gates.map((gate) => {
    if ('node' in gate) return `${gate.kind} ${gate.node}`
    return `${gate.kind} ${'machine' in gate ? gate.machine : gate.remediator}`
  })
}

function world(more: Partial<FencingObjects>): FencingObjects {
  const { openshiftMachines, budgets } = settled(smallFencing())
  return smallFencing({ openshiftMachines, budgets, ...more })
}

describe('what remediators are told', () => {
  const medik8s = { nodeHealthChecks: [nodesCheck], leases: [] }
  const held = { clusters: [dirty], nodes: sick('a') }
  const hooked = (name: string, more: object = {}) =>
    exampleMachine(name, {
      metadata: { name: `m-${name}`, labels: { 'fencegroup.rook.io/ceph': 'true' }, ...more },
      spec: { lifecycleHooks: { preTerminate: [{ name: 'cofferdam-fencing', owner: 'cofferdam.io/fencing' }] } },
    })
  const pausedByUs = {
    ...workersCheck,
    metadata: {
      ...workersCheck.metadata,
      annotations: { 'cluster.x-k8s.io/paused': 'cofferdam', 'cofferdam.io/set-by-fencing': 'paused' },
    },
  }
  const cases: Record<string, [FencingObjects, string[]]> = {
    'is nothing while all nodes are well, however dirty the data': [world({ ...medik8s, clusters: [dirty] }), []],
    'is nothing about a sick node without OSDs': [
      world({ ...medik8s, clusters: [dirty], nodes: [...sick(), exampleNode('x', { sickSinceMs: 0 })] }),
      [],
    ],
    'is by a Lease where medik8s keeps them': [world({ ...medik8s, ...held }), ['hold-lease a']],
    'is by a Lease also for a node that no Machine has': [
      world({ ...medik8s, ...held, openshiftMachines: [] }),
      ['hold-lease a'],
    ],
    'is nothing when the Lease is held and young': [
      world({ ...medik8s, ...held, leases: [lease('cofferdam', startMs - 20 * minute)] }),
      [],
    ],
    'is to renew the Lease at half of its time': [
      world({ ...medik8s, ...held, leases: [lease('cofferdam', startMs - 30 * minute)] }),
      ['hold-lease a'],
    ],
    'leaves the Lease to somebody else who holds it': [
      world({ ...medik8s, ...held, leases: [lease('node-maintenance', startMs - 30 * minute)] }),
      [],
    ],
    'takes a Lease whose holder let it lapse': [
      world({ ...medik8s, ...held, leases: [lease('node-maintenance', startMs - 61 * minute)] }),
      ['hold-lease a'],
    ],
    'gives the Lease back when the node is well': [
      world({ ...medik8s, clusters: [dirty], leases: [lease('cofferdam', startMs)] }),
      ['free-lease a'],
    ],
    'lets exactly the longest sick go while all is clean': [
      world({ ...medik8s, nodes: sick('a', 'b', 'c'), leases: [lease('cofferdam', startMs)] }),
      ['hold-lease b', 'hold-lease c', 'free-lease a'],
    ],
    'keeps all others while medik8s says by its Lease that it takes one away': [
      world({ ...medik8s, nodes: sick('a', 'b'), leases: [lease('NodeHealthCheck-workers', startMs)] }),
      ['hold-lease b'],
    ],
    'is a request to pause where medik8s keeps no Leases': [
      world({ ...medik8s, ...held, leases: undefined }),
      ['pause workers'],
    ],
    'is to skip the machine where Cluster API has it': [
      world({ ...held, openshiftMachines: undefined, clusterApiMachines: [exampleMachine('a')] }),
      ['skip-machine m-a'],
    ],
    'is nothing for a machine that somebody else told Cluster API to skip': [
      world({
        ...held,
        openshiftMachines: undefined,
        clusterApiMachines: [
          exampleMachine('a', { metadata: { name: 'm-a', annotations: { 'cluster.x-k8s.io/skip-remediation': '' } } }),
        ],
      }),
      [],
    ],
    'is to pause the health check of OpenShift while none of its sick machines may go': [
      world({ ...held, openshiftHealthChecks: [workersCheck] }),
      ['pause openshift-machine-api/workers'],
    ],
    'is about the longest sick first, then by name, and last about one of which nobody knows since when: its time never comes':
      [
        world({
          ...medik8s,
          nodes: [
            exampleNode('c', { sickSinceMs: startMs - minute }),
            { ...exampleNode('a', { sickSinceMs: 0 }), status: { nodeInfo: { bootID: 'boot-1' } } } as never,
            exampleNode('b', { sickSinceMs: startMs - minute }),
          ],
        }),
        ['hold-lease c', 'hold-lease a'],
      ],
    'leaves a pause of somebody else alone': [
      world({
        ...held,
        openshiftHealthChecks: [
          { ...workersCheck, metadata: { ...workersCheck.metadata, annotations: { 'cluster.x-k8s.io/paused': '' } } },
        ],
      }),
      [],
    ],
    'leaves a health check alone that looks after other machines': [
      world({
        ...held,
        openshiftHealthChecks: [{ ...workersCheck, spec: { selector: { matchLabels: { role: 'infra' } } } }],
      }),
      [],
    ],
    'is to hook the others before a health check of OpenShift runs again for one': [
      world({ nodes: sick('a', 'b'), openshiftHealthChecks: [pausedByUs] }),
      ['hook-machine m-b'],
    ],
    'keeps one paused that reboots hosts, since hooks hold nothing there and two would go at once': [
      world({
        nodes: sick('a', 'b'),
        openshiftHealthChecks: [
          {
            ...workersCheck,
            metadata: {
              ...workersCheck.metadata,
              annotations: { 'machine.openshift.io/remediation-strategy': 'external-baremetal' },
            },
          },
        ],
      }),
      ['pause openshift-machine-api/workers'],
    ],
    'lets one that reboots hosts run when no other has to be kept': [
      world({
        nodes: sick('a'),
        openshiftHealthChecks: [
          {
            ...pausedByUs,
            metadata: {
              ...pausedByUs.metadata,
              annotations: {
                ...pausedByUs.metadata.annotations,
                'machine.openshift.io/remediation-strategy': 'external-baremetal',
              },
            },
          },
        ],
      }),
      ['resume openshift-machine-api/workers'],
    ],
    'is to let it run again when the hooks are there': [
      world({
        nodes: sick('a', 'b'),
        openshiftHealthChecks: [pausedByUs],
        openshiftMachines: [
          ...(world({}).openshiftMachines ?? []).filter(({ metadata }) => metadata.name !== 'm-b'),
          hooked('b'),
        ],
      }),
      ['resume openshift-machine-api/workers'],
    ],
    'keeps the hook on a machine that was deleted out of turn': [
      world({
        nodes: sick('b'),
        clusters: [dirty],
        openshiftMachines: [hooked('b', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
      }),
      [],
    ],
    'takes the hook off a machine that was deleted out of turn when its turn comes, even if its node is well again': [
      world({
        openshiftMachines: [
          ...(world({}).openshiftMachines ?? []).filter(({ metadata }) => metadata.name !== 'm-b'),
          hooked('b', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
        ],
      }),
      ['unhook-machine m-b'],
    ],
    'takes back all that is ours where the cluster does not want budgets any more': [
      world({
        clusters: [{ ...dirty, settings: { ...dirty.settings, isManaged: false } }],
        nodes: sick('a'),
        leases: [lease('cofferdam', startMs)],
        openshiftHealthChecks: [pausedByUs],
        openshiftMachines: [hooked('b')],
      }),
      ['free-lease a', 'unhook-machine m-b', 'resume openshift-machine-api/workers'],
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [objects, expected]) => {
    expect(gates(objects)).toEqual(expected)
  })

  it('names ten nodes at most: the event would be refused as too long', () => {
    const names = Array.from({ length: 12 }, (_, at) => `n${String(at).padStart(2, '0')}`)
    const objects = smallFencing({
      clusters: [exampleCluster(names, { evidence: dirty.evidence })],
      nodes: names.map((name) => exampleNode(name, { sickSinceMs: startMs - minute })),
      openshiftMachines: names.map((name) => exampleMachine(name)),
      openshiftHealthChecks: [workersCheck],
    })
    expect(decide(objects).gates[0]?.explanation).toContain(
      'Storage needs n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and 2 more now.',
    )
  })
})
