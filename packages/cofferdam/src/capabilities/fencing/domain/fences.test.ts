import type { NodeHealthCheck } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { marks } from './marks.ts'
import type { FencingObjects } from './parse-fencing.ts'
import type { CephEvidence, FencedCluster } from './snapshot.ts'
import {
  applyDecision,
  decide,
  exampleCluster,
  exampleMachine,
  exampleNode,
  minute,
  nodesCheck,
  settled,
  smallFencing,
  startMs,
} from './testing/small-fencing.ts'

const three = ['a', 'b', 'c']
const calm = settled(smallFencing())
const sickA = [exampleNode('a', { sickSinceMs: startMs }), exampleNode('b'), exampleNode('c')]

/** The same, later: Ceph is asked at that moment. */
function at(ms: number, objects: FencingObjects, ceph: Partial<CephEvidence> = {}): FencingObjects {
  const evidence = known({ polledAtMs: startMs + ms, isClean: known(true), upOsds: new Set([0, 1, 2]), ...ceph })
  return { ...objects, nowMs: startMs + ms, clusters: objects.clusters.map((cluster) => ({ ...cluster, evidence })) }
}

/** A remediator takes the allowance for machine `m-a`, as it does with compare-and-swap on the status. */
function consumed(objects: FencingObjects): FencingObjects {
  return {
    ...objects,
    budgets: objects.budgets.map((budget) => ({
      ...budget,
      status: {
        ...(budget.status as NonNullable<typeof budget.status>),
        disruptionsAllowed: 0,
        disruptedMachines: { 'm-a': '2027-01-15T08:00:00Z' },
      },
    })),
  }
}

function withoutMachineA(objects: FencingObjects): FencingObjects {
  return { ...objects, openshiftMachines: (objects.openshiftMachines ?? []).slice(1), nodes: objects.nodes.slice(1) }
}

function osdsAway(objects: FencingObjects, node: string): FencingObjects {
  const clusters = objects.clusters.map(
    (cluster): FencedCluster => ({
      ...cluster,
      osds: cluster.osds.map((osd) =>
        osd.nodeName.known && osd.nodeName.value === node ? { ...osd, isReady: false } : osd,
      ),
    }),
  )
  return { ...objects, clusters }
}

function budgetOf(objects: FencingObjects) {
  const { budget, reason } = decide(objects).clusters[0] ?? {}
  return { maxUnavailable: budget?.maxUnavailable, reason }
}

describe('the status of a budget', () => {
  it('lets the one sick machine through while all others are well, where the arithmetic of 2019 refused it', () => {
    expect(settled({ ...calm, nodes: sickA }).budgets[0]?.status).toEqual({
      observedGeneration: 0,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 2,
      expectedMachines: 3,
    })
  })

  it('allows nothing more once a remediator was let through, and keeps its entry', () => {
    expect(settled(consumed({ ...calm, nodes: sickA })).budgets[0]?.status).toEqual({
      observedGeneration: 0,
      disruptionsAllowed: 0,
      currentHealthy: 2,
      desiredHealthy: 3,
      expectedMachines: 3,
      disruptedMachines: { 'm-a': '2027-01-15T08:00:00Z' },
    })
  })
})

describe('a fence', () => {
  const begun = settled(consumed({ ...calm, nodes: sickA }))
  const gone = settled(at(5 * minute, withoutMachineA(begun)))
  const rebooted = [
    exampleNode('a', { bootID: 'boot-2', readySinceMs: startMs + 3 * minute }),
    exampleNode('b'),
    exampleNode('c'),
  ]
  const back = [exampleNode('a', { readySinceMs: startMs + 3 * minute }), exampleNode('b'), exampleNode('c')]
  const cases: Record<string, [FencingObjects, boolean]> = {
    'is under way as soon as a remediator was let through': [begun, false],
    'is not over while its node is silent and its OSDs run': [at(30 * minute, begun), false],
    'is not over when its machine has just gone and Ceph cannot have noticed': [gone, false],
    'is not over while data is missing, however long its machine is gone': [
      at(60 * minute, gone, { isClean: known(false) }),
      false,
    ],
    'is over when its machine is gone and Ceph, asked a minute later, is clean': [at(6 * minute, gone), true],
    'is not over when the node is back after a reboot and Ceph was asked too soon': [
      at(3 * minute + 30_000, { ...begun, nodes: rebooted }),
      false,
    ],
    'is over when the node is back after a reboot and all is clean': [
      at(4 * minute, { ...begun, nodes: rebooted }),
      true,
    ],
    'is not over when the node is back without a reboot': [at(4 * minute, { ...begun, nodes: back }), false],
    'is over when the node has been well for ten minutes without a reboot: the remediator changed its mind': [
      at(13 * minute, { ...begun, nodes: back }),
      true,
    ],
    'is not over after ten minutes of which the node was silent for a part': [
      at(12 * minute, { ...begun, nodes: back }),
      false,
    ],
    'is over when the dead machine has no OSD any more and Ceph has made new copies elsewhere': [
      at(30 * minute, osdsAway(begun, 'a'), { upOsds: new Set([1, 2]) }),
      true,
    ],
    'is not over on evidence that is too old': [{ ...at(6 * minute, gone), nowMs: startMs + 8 * minute }, false],
  }
  it.each(Object.entries(cases))('%s', (_, [objects, isOver]) => {
    expect(
      decide(objects).fences.map(({ machine, node, scope, isOver: is }) => ({ machine, node, scope, is })),
    ).toEqual([{ machine: 'm-a', node: 'a', scope: 'a', is: isOver }])
    expect(budgetOf(objects).maxUnavailable).toBe(isOver ? 1 : 0)
  })

  it('counts for the failure domain that its machine is in now, where that was not known or was another: the drain of its own node would wait for it', () => {
    const inDomain = (domain: string | undefined): FencingObjects => ({
      ...begun,
      clusters: begun.clusters.map((cluster) => ({
        ...cluster,
        osds: cluster.osds.map((osd) => ({ ...osd, domain })),
      })),
    })
    const scopes = (objects: FencingObjects) =>
      decide(objects).fences.map(({ scope, formerScope }) => [scope, formerScope])
    expect(scopes(begun)).toEqual([['a', undefined]])
    expect(scopes(inDomain('zone-1'))).toEqual([['zone-1', 'a']])
    expect(scopes(inDomain(undefined))).toEqual([['a', undefined]])
    const recorded = applyDecision(inDomain('zone-1'))
    expect(scopes(recorded)).toEqual([['zone-1', undefined]])
  })

  it('counts for the domain of what runs there: an OSD that is down, was put in from another host and is missed by no data, had it hold all of the storage, against the drain of its own node (short seed 704707)', () => {
    const among = (given: FencingObjects, isClean: boolean, upOsds: readonly number[]): FencingObjects => ({
      ...given,
      clusters: calm.clusters.map((cluster) => ({
        ...cluster,
        osds: [...cluster.osds, { id: 9, isReady: false, nodeName: known('a'), domain: 'b' }],
        evidence: known({ polledAtMs: given.nowMs, isClean: known(isClean), upOsds: new Set(upOsds) }),
      })),
    })
    const scopes = (objects: FencingObjects) =>
      decide(objects).fences.map(({ scope, formerScope }) => [scope, formerScope])
    const recorded = settled(among(consumed({ ...calm, nodes: sickA }), false, [0, 1, 2]))
    expect(scopes(recorded)).toEqual([['', undefined]])
    expect(scopes(among(recorded, true, [0, 1, 2]))).toEqual([['a', '']])
    expect(scopes(among(recorded, true, [0, 1, 2, 9]))).toEqual([['', undefined]])
  })

  it('that only the ledger remembers, since somebody deleted the budget, counts until Ceph must have noticed and is clean', () => {
    const remembered = (objects: FencingObjects): FencingObjects => ({
      ...objects,
      clusters: objects.clusters.map((cluster) => ({ ...cluster, heldForFences: ['a'] })),
    })
    const fences = (objects: FencingObjects) => decide(objects).fences.map(({ machine, isOver }) => [machine, isOver])
    const forgotten = remembered({ ...calm, budgets: [] })
    expect(fences(forgotten)).toEqual([['(forgotten in a)', false]])
    const written = settled(forgotten)
    expect(budgetOf(written)).toEqual({ maxUnavailable: 0, reason: 'FenceUnderWay' })
    expect(fences(at(30_000, written))).toEqual([['(forgotten in a)', false]])
    expect(fences(at(minute, written))).toEqual([['(forgotten in a)', true]])
    expect(fences(remembered(begun))).toEqual([['m-a', false]])
  })

  it('that held all of the storage and is forgotten holds all of it still', () => {
    const clusters = calm.clusters.map((cluster) => ({ ...cluster, heldForFences: [''] }))
    expect(decide({ ...calm, clusters, budgets: [] }).fences.map(({ machine, scope }) => [machine, scope])).toEqual([
      ['(forgotten in all domains)', ''],
    ])
  })

  it('of a machine in another namespace than the budget is called by both, and is found again by that', () => {
    const elsewhere = exampleMachine('a', {
      metadata: { name: 'm-a', namespace: 'elsewhere', deletionTimestamp: '2026-01-01T00:00:00Z' },
    })
    const objects = { ...calm, openshiftMachines: [elsewhere, exampleMachine('b'), exampleMachine('c')] }
    const called = (now: FencingObjects) => decide(now).fences.map(({ machine, node }) => [machine, node])
    expect(called(objects)).toEqual([['elsewhere/m-a', 'a']])
    expect(called(settled(objects))).toEqual([['elsewhere/m-a', 'a']])
  })

  it('leaves nothing behind when it is over', () => {
    const after = settled(at(6 * minute, gone))
    expect(after.budgets[0]?.metadata.annotations).not.toHaveProperty(marks.fences)
    expect(after.budgets[0]?.status?.disruptedMachines).toBeUndefined()
  })

  it('begins when anybody deletes a machine with OSDs, and for every cluster with OSDs there', () => {
    const clusters = [exampleCluster(three), exampleCluster(['a'], { name: 'other' })]
    const machine = exampleMachine('a', { metadata: { name: 'm-a', deletionTimestamp: '2026-01-01T00:00:00Z' } })
    const objects = smallFencing({ clusters, openshiftMachines: [machine, exampleMachine('b'), exampleMachine('c')] })
    expect(decide(objects).fences.map(({ cluster, machine: name }) => `${cluster.name} ${name}`)).toEqual([
      'ceph m-a',
      'other m-a',
    ])
  })

  it('is not begun again for a cluster that is done with it while another is not, or each would wait for the other for ever', () => {
    const clusters = [exampleCluster(three), exampleCluster(['a', 'b'], { name: 'other' })]
    const taken = settled({ ...consumed(settled(smallFencing({ clusters }))), nodes: sickA })
    const rebooted = [exampleNode('a', { bootID: 'boot-2', readySinceMs: startMs + 3 * minute }), ...sickA.slice(1)]
    const dirty = (objects: FencingObjects): FencingObjects => ({
      ...objects,
      clusters: objects.clusters.map((cluster) =>
        cluster.name === 'ceph' && cluster.evidence.known
          ? { ...cluster, evidence: known({ ...cluster.evidence.value, isClean: known(false) }) }
          : cluster,
      ),
    })
    const first = settled(dirty(at(6 * minute, { ...taken, nodes: rebooted })))
    const both = settled(at(8 * minute, first))
    const fenced = (objects: FencingObjects) =>
      objects.budgets
        .filter(({ status }) => status?.disruptedMachines !== undefined)
        .map(({ metadata }) => metadata.name)
    expect([fenced(taken), fenced(first), fenced(both)].map((names) => names.length)).toEqual([2, 1, 0])
  })

  const drainedFirst = exampleMachine('a', {
    metadata: { name: 'm-a', deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { lifecycleHooks: { preDrain: [{ name: 'cofferdam', owner: 'cofferdam.io/machine-deletion' }] } },
  })
  const deletedA = { ...calm, openshiftMachines: [drainedFirst, exampleMachine('b'), exampleMachine('c')] }

  it('is none while our hook has a healthy node drained first: the drain would wait for the storage that the fence holds', () => {
    expect(decide(deletedA).fences).toEqual([])
  })

  it('begins despite that hook when the node is not Ready: it cannot be drained, and its hook goes soon', () => {
    expect(decide({ ...deletedA, nodes: sickA }).fences.map(({ machine }) => machine)).toEqual(['m-a'])
  })

  it('is over when the node of such a machine has been well for ten minutes, so that it can be drained', () => {
    const isOver = (ms: number) =>
      decide(at(ms, { ...deletedA, budgets: begun.budgets, nodes: back })).fences[0]?.isOver
    expect([isOver(4 * minute), isOver(13 * minute)]).toEqual([false, true])
  })

  it('is none when a machine without OSDs is deleted', () => {
    const machine = exampleMachine('x', { metadata: { name: 'm-x', deletionTimestamp: '2026-01-01T00:00:00Z' } })
    expect(decide({ ...calm, openshiftMachines: [machine, ...(calm.openshiftMachines ?? [])] }).fences).toEqual([])
  })

  it('does not mix up machines of one name in two namespaces', () => {
    const elsewhere = exampleMachine('x', {
      metadata: { name: 'm-a', namespace: 'elsewhere', deletionTimestamp: '2026-01-01T00:00:00Z' },
    })
    expect(decide({ ...calm, clusterApiMachines: [elsewhere] }).fences).toEqual([])
  })
})

describe('the flows that fencing was designed for', () => {
  it('a node dies with its OSDs: the budget closes, the label goes, and the machine is free', () => {
    const dead = at(minute, osdsAway({ ...calm, nodes: sickA }, 'a'), {
      upOsds: new Set([0, 1, 2]),
      isClean: known(false),
    })
    expect([budgetOf(dead), decide(dead).labels]).toEqual([{ maxUnavailable: 0, reason: 'FenceWaitsForData' }, []])
    const noticed = at(2 * minute, dead, { upOsds: new Set([1, 2]), isClean: known(false) })
    expect(decide(noticed).labels.map(({ machine, remove }) => [machine, remove])).toEqual([
      ['m-a', ['fencegroup.rook.io/ceph']],
    ])
    const free = settled(noticed)
    expect(decide(free).nodes.map(({ node, mayFence, reason }) => [node, mayFence, reason])).toEqual([
      ['a', true, 'MachineHasNoOsds'],
      ['b', false, 'FenceWaitsForData'],
      ['c', false, 'FenceWaitsForData'],
    ])
  })

  it('a node is silent while its OSDs run: it is fenced, and the next waits until all is clean again', () => {
    const two = [
      exampleNode('a', { sickSinceMs: startMs }),
      exampleNode('b', { sickSinceMs: startMs + 1_000 }),
      exampleNode('c'),
    ]
    const sick = settled({ ...calm, nodes: two })
    expect(decide(sick).nodes.map(({ node, mayFence, reason }) => [node, mayFence, reason])).toEqual([
      ['a', true, 'FenceAllowed'],
      ['b', false, 'FenceInTurn'],
      ['c', true, 'FenceAllowed'],
    ])
    const fenced = applyDecision(consumed(sick))
    const degraded = settled(
      at(5 * minute, osdsAway(withoutMachineA(fenced), 'a'), { upOsds: new Set([1, 2]), isClean: known(false) }),
    )
    expect(budgetOf(degraded)).toEqual({ maxUnavailable: 0, reason: 'FenceUnderWay' })
    const recovered = settled(at(20 * minute, degraded, { upOsds: new Set([1, 2]) }))
    expect(decide(recovered).nodes.map(({ node, mayFence, reason }) => [node, mayFence, reason])).toEqual([
      ['b', true, 'FenceAllowed'],
      ['c', true, 'FenceAllowed'],
    ])
  })
})

describe('the fence of a node that no Machine has', () => {
  const remediating: NodeHealthCheck = {
    ...nodesCheck,
    status: {
      ...nodesCheck.status,
      unhealthyNodes: [{ name: 'a', remediations: [{ started: '2027-01-15T08:00:00Z' }] }],
    },
  } as NodeHealthCheck
  const alone = settled(smallFencing({ openshiftMachines: undefined, nodeHealthChecks: [nodesCheck], leases: [] }))
  const begun = settled({ ...alone, nodes: sickA, nodeHealthChecks: [remediating] })
  const back = [exampleNode('a', { bootID: 'boot-2', readySinceMs: startMs + minute }), ...sickA.slice(1)]
  const twoSick = [back[0] as (typeof back)[number], exampleNode('b', { sickSinceMs: startMs }), exampleNode('c')]
  const fences = (objects: FencingObjects) =>
    decide(objects).fences.map(({ machine, isOver }) => `${machine} ${isOver ? 'over' : 'under way'}`)

  it('is recorded like that of a Machine, and no other node may go', () => {
    expect(fences(begun)).toEqual(['node:a under way'])
    expect(budgetOf(begun)).toEqual({ maxUnavailable: 0, reason: 'FenceUnderWay' })
    expect(decide(begun).clusters[0]?.explanation).toBe('Node a is being fenced.')
  })

  it('is not over when the node is back before Ceph can have noticed: the next would go while data is missing', () => {
    const after = { ...begun, nodes: twoSick, nodeHealthChecks: [nodesCheck] }
    expect(fences(at(minute + 1_000, after))).toEqual(['node:a under way'])
    expect(fences(at(3 * minute, after))).toEqual(['node:a over'])
  })

  it('is over when the node is gone, and all data is clean by later evidence', () => {
    const gone = settled(at(5 * minute, { ...begun, nodes: sickA.slice(1), nodeHealthChecks: [nodesCheck] }))
    expect(fences(gone)).toEqual(['node:a under way'])
    expect(fences(at(7 * minute, gone))).toEqual(['node:a over'])
  })
})
