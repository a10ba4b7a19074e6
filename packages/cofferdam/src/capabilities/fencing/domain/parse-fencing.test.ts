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
