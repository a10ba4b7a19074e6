import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { parseMachineBudget } from './parse-budget.ts'
import { parseFencing } from './parse-fencing.ts'
import { parseMachine } from './parse-machine.ts'
import { fencesText, parseFences } from './recorded-fences.ts'
import { parseFencingSettings } from './settings.ts'
import type { RecordedFence } from './snapshot.ts'
import {
  decide,
  exampleCluster,
  exampleMachine,
  exampleNode,
  nodesCheck,
  settled,
  smallFencing,
  startMs,
  workersCheck,
} from './testing/small-fencing.ts'

describe('what a CephCluster says about fencing', () => {
  const cluster = (spec: object, annotations: Record<string, string> = {}): CephCluster =>
    ({
      apiVersion: 'ceph.rook.io/v1',
      kind: 'CephCluster',
      metadata: { name: 'ceph', annotations },
      spec,
    }) as CephCluster
  const defaults = {
    isManaged: true,
    budgetNamespace: 'openshift-machine-api',
    writesRookLabels: false,
    maxEvidenceAgeMs: 60_000,
    problems: [],
  }
  const cases: Record<string, [CephCluster, object]> = {
    'is that budgets are kept, when it says nothing': [cluster({}), defaults],
    'is taken at its word': [
      cluster(
        { disruptionManagement: { manageMachineDisruptionBudgets: false, machineDisruptionBudgetNamespace: 'mine' } },
        { 'cofferdam.io/rook-fence-labels': 'true' },
      ),
      { ...defaults, isManaged: false, budgetNamespace: 'mine', writesRookLabels: true },
    ],
    'is nothing when its storage is elsewhere': [
      cluster({ external: { enable: true } }),
      { ...defaults, isManaged: false, isExternal: true },
    ],
    'is told when it makes no sense, and the defaults count': [
      cluster(
        { disruptionManagement: { manageMachineDisruptionBudgets: 'no', machineDisruptionBudgetNamespace: 'No!' } },
        { 'cofferdam.io/rook-fence-labels': 'yes' },
      ),
      {
        ...defaults,
        problems: [
          'spec.disruptionManagement.manageMachineDisruptionBudgets is neither true nor false; true counts',
          'spec.disruptionManagement.machineDisruptionBudgetNamespace is no name of a namespace; openshift-machine-api counts',
          'annotation cofferdam.io/rook-fence-labels is neither "true" nor "false"; "false" counts',
        ],
      },
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [seen, expected]) => {
    expect(parseFencingSettings(seen)).toEqual(expected)
  })

  it('is kept beside it where there are no Machines, and nowhere where it has no namespace', () => {
    const { metadata } = cluster({})
    const here = { ...cluster({}), metadata: { ...metadata, namespace: 'rook' } }
    expect([here, cluster({})].map((each) => parseFencingSettings(each, false).budgetNamespace)).toEqual(['rook', ''])
  })
})

describe('the record of fences', () => {
  const fence = { node: 'a', bootID: 'b', scope: 'rack-1', sinceMs: startMs }
  it('comes back as it was written', () => {
    const fences = new Map<string, RecordedFence>([
      ['m-b', fence],
      ['m-a', { ...fence, goneMs: startMs + 1_000 }],
    ])
    expect(parseFences(fencesText(fences))).toEqual(known(fences))
  })

  const bad: Record<string, [string, string]> = {
    'is no JSON': ['{', 'it is not JSON'],
    'is a list': ['[]', 'it is no JSON object'],
    'has an entry without a time': ['{"m":{"node":"a","bootID":"b","scope":""}}', 'the entry of machine m is invalid'],
    'has an entry that is a list': ['{"m":[]}', 'the entry of machine m is invalid'],
    'has an entry whose node is a number': [
      '{"m":{"node":1,"bootID":"b","scope":"","since":"2026-01-01T00:00:00Z"}}',
      'the entry of machine m is invalid',
    ],
    'has an entry that went at no time': [
      '{"m":{"node":"a","bootID":"b","scope":"","since":"2026-01-01T00:00:00Z","gone":1}}',
      'the entry of machine m is invalid',
    ],
  }
  it.each(Object.entries(bad))('counts as unreadable when it %s', (_, [text, why]) => {
    expect(parseFences(text)).toEqual(unknown(why))
  })
})

describe('objects that others changed', () => {
  it('a Machine whose fields make no sense is one without a node and without anything of ours', () => {
    const machine = exampleMachine('a', {
      status: { nodeRef: 7 },
      spec: { lifecycleHooks: { preTerminate: 'x' } },
    } as never)
    expect(parseMachine(machine, 'openshift')).toMatchObject({
      nodeName: undefined,
      isHookedByUs: false,
      skip: undefined,
    })
  })

  it('a budget with another selector, or none, selects by no key of ours', () => {
    const [budget] = settled(smallFencing()).budgets
    const selectors = [
      {},
      { matchLabels: { a: 'b' } },
      { matchLabels: { 'fencegroup.rook.io/ceph': 'false' } },
      undefined,
    ]
    expect(
      selectors.map((selector) => parseMachineBudget({ ...budget, spec: { selector } } as never).view.labelKey),
    ).toEqual([undefined, undefined, undefined, undefined])
  })

  it('an entry of a remediator without a time counts as the oldest: dropped, a second machine would be let through', () => {
    const [budget] = settled(smallFencing()).budgets
    const disruptedMachines = { 'm-a': 7, 'm-b': 'yesterday', 'm-c': '1970-01-01T00:00:05Z' }
    const { disrupted } = parseMachineBudget({ ...budget, status: { disruptedMachines } } as never).view
    expect([...disrupted]).toEqual([
      ['m-a', 0],
      ['m-b', 0],
      ['m-c', 5_000],
    ])
  })

  it('a Lease without times has lapsed, and one that is held by nobody or is not about a node is none', () => {
    const lease = (name: string, spec: object): Lease => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: 'medik8s-leases' },
      spec,
    })
    const leases = [
      lease('node-a', { holderIdentity: 'them' }),
      lease('node-b', { holderIdentity: 'them', renewTime: 'soon', leaseDurationSeconds: 60 }),
      lease('node-c', { holderIdentity: '' }),
      lease('leader', { holderIdentity: 'them' }),
      lease('node-d', {}),
    ]
    expect([...parseFencing(smallFencing({ leases })).leases]).toEqual([
      ['a', { holder: 'them', validUntilMs: 0, isOurs: false }],
      ['b', { holder: 'them', validUntilMs: 60_000, isOurs: false }],
    ])
  })

  it('a node whose kubelet has never reported is not Ready, and nobody knows since when', () => {
    const [node] = parseFencing(smallFencing({ nodes: [{ ...exampleNode('a'), status: {} }] })).nodes
    expect(node).toMatchObject({ isReady: false, isSilent: false, notReadySinceMs: undefined, bootID: '' })
  })

  it('a health check without a selector may be about any node: none of them would be kept from it', () => {
    const objects = smallFencing({
      openshiftHealthChecks: [{ ...workersCheck, spec: {} } as never],
      nodeHealthChecks: [{ ...nodesCheck, spec: {} } as never],
    })
    expect(parseFencing(objects).remediators.map(({ nodes }) => nodes)).toEqual([undefined, undefined])
  })

  it('a budget that was edited by hand is told, and put right', () => {
    const calm = settled(smallFencing())
    const edited = {
      ...calm,
      budgets: calm.budgets.map((budget) => ({ ...budget, spec: { maxUnavailable: 9, minAvailable: 1 } })),
    }
    expect(decide(edited).problems).toEqual([
      {
        object: 'machinedisruptionbudget/openshift-machine-api/ceph-rook',
        problem: 'its selector was changed; it is restored',
      },
    ])
    expect(settled(edited).budgets).toEqual(calm.budgets)
  })

  it('a budget of a cluster that is gone goes, and nobody else’s does', () => {
    const calm = settled(smallFencing())
    const [budget] = calm.budgets
    const foreign = {
      ...budget,
      metadata: { namespace: 'openshift-machine-api', name: 'theirs' },
    } as (typeof calm.budgets)[number]
    const decision = decide({ ...calm, clusters: [], budgets: [...calm.budgets, foreign] })
    expect(decision.orphanBudgets).toEqual([{ namespace: 'openshift-machine-api', name: 'ceph-rook' }])
  })

  it('a budget that moves to another namespace keeps its fences, and the old one goes after the new one is there', () => {
    const calm = settled(smallFencing())
    const budgets = calm.budgets.map((budget) => ({
      ...budget,
      metadata: {
        ...budget.metadata,
        annotations: {
          ...budget.metadata.annotations,
          'cofferdam.io/fences': fencesText(
            new Map([['m-a', { node: 'a', bootID: '', scope: 'a', sinceMs: startMs }]]),
          ) as string,
        },
      },
    }))
    const cluster = exampleCluster(['a', 'b', 'c'])
    const clusters = [{ ...cluster, settings: { ...cluster.settings, budgetNamespace: 'mine' } }]
    const moved = { ...calm, clusters, budgets }
    expect(decide(moved).orphanBudgets).toEqual([])
    expect(
      settled(moved).budgets.map(({ metadata }) => [
        metadata.namespace,
        metadata.annotations?.['cofferdam.io/fences'] !== undefined,
      ]),
    ).toEqual([['mine', true]])
  })
})

describe('who looks after health checks', () => {
  it('is told to be nobody where no status was ever written', () => {
    const { status: _, ...silent } = workersCheck
    const { status: __, ...silentNodes } = nodesCheck
    const objects = { ...settled(smallFencing()), openshiftHealthChecks: [silent], nodeHealthChecks: [silentNodes] }
    expect(decide(objects).problems).toEqual([
      {
        object: 'medik8s-nhc/workers',
        problem:
          'status.phase is not set, so no controller manages it yet; machines are not kept from a remediator that does not listen',
      },
      {
        object: 'openshift-mhc/openshift-machine-api/workers',
        problem:
          'status.expectedMachines is not set, so no controller manages it yet; machines are not kept from a remediator that does not listen',
      },
    ])
  })

  it('is seen with the nodes it is about, and those it takes away now', () => {
    const check = {
      ...nodesCheck,
      status: { phase: 'Remediating', unhealthyNodes: [{ name: 'a', remediations: [{}] }, { name: 'b' }, 7] },
    } as never
    const [remediator] = parseFencing(smallFencing({ nodeHealthChecks: [check] })).remediators
    expect(remediator).toMatchObject({ nodes: ['a', 'b', 'c'], remediating: ['a'], isAlive: known(true) })
  })

  it('is told of at most ten nodes that no Machine has: a list of a thousand would hide all else', () => {
    const names = Array.from({ length: 12 }, (_, at) => `n${String(at).padStart(2, '0')}`)
    const objects = smallFencing({
      clusters: [exampleCluster(names)],
      nodes: names.map((name) => exampleNode(name)),
    })
    expect(decide(objects).problems[0]?.problem).toBe(
      'no Machine has the nodes n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and 2 more with its OSDs, so its budget does not count them',
    )
  })

  it('is not asked about nodes that no Machine has, but those are told', () => {
    const objects = smallFencing({ openshiftMachines: [exampleMachine('a'), exampleMachine('b')] })
    expect(decide(objects).problems).toEqual([
      {
        object: 'cephcluster/rook/ceph',
        problem: 'no Machine has the node c with its OSDs, so its budget does not count them',
      },
    ])
  })
})
