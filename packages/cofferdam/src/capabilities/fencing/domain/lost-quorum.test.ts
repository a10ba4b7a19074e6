import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { explainLostQuorum, lostQuorum, quorumChangesInMs } from './lost-quorum.ts'
import { hookName } from './marks.ts'
import type { FencingObjects } from './parse-fencing.ts'
import type { CephSilence, FencedCluster, FencedMon, FencedNodeView } from './snapshot.ts'
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

const names = ['a', 'b', 'c']

interface Outage {
  /** Minutes since the heartbeats of a node ended. */
  readonly dead?: Readonly<Record<string, number>>
  /** Nodes whose kubelet says that it is not ready: what runs there runs on. */
  readonly complaining?: readonly string[]
  /** Absent: Ceph answers. */
  readonly silence?: CephSilence | undefined
  readonly mons?: readonly FencedMon[]
  readonly nodes?: readonly string[]
}

const never: CephSilence = { lastAnswerMs: undefined }

function mon(name: string, nodeName: string | undefined, isReady: boolean): FencedMon {
  return { name, places: nodeName === undefined ? [] : [{ nodeName, isReady }] }
}

/** Every node has a machine, an OSD and a monitor. Before the outage all was clean, and every label was on. */
function outage({ dead = {}, complaining = [], silence = never, mons, nodes = names }: Outage): FencingObjects {
  const isGone = (node: string) => dead[node] !== undefined || complaining.includes(node)
  const base = {
    openshiftMachines: nodes.map((node) => exampleMachine(node)),
    nodes: nodes.map((node) => exampleNode(node)),
  }
  const before = settled(smallFencing({ ...base, clusters: [exampleCluster(nodes)] }))
  const healthy = exampleCluster(nodes)
  const cluster: FencedCluster = {
    ...healthy,
    evidence: unknown('no answer'),
    silence,
    osds: healthy.osds.map((osd, at) => ({ ...osd, isReady: !isGone(nodes[at] as string) })),
    mons: mons ?? nodes.map((node) => mon(`mon-${node}`, node, !isGone(node))),
  }
  return {
    ...before,
    clusters: [cluster],
    nodes: nodes.map((node) => {
      const minutes = dead[node]
      if (minutes !== undefined) return exampleNode(node, { sickSinceMs: startMs - minutes * minute })
      if (!complaining.includes(node)) return exampleNode(node)
      const sick = exampleNode(node, { sickSinceMs: startMs - 60 * minute })
      const conditions = sick.status?.conditions?.map((condition) => ({ ...condition, status: 'False' as const })) ?? []
      return { ...sick, status: { ...sick.status, conditions } }
    }),
  }
}

function released(objects: FencingObjects): string[] {
  return decide(objects).nodes.flatMap(({ node, reason }) => (reason === 'FenceRestoresQuorum' ? [node] : []))
}

describe('while Ceph is silent, a machine is released', () => {
  const cases: Record<string, [Outage, readonly string[]]> = {
    'when two of three nodes with monitors are dead: else both would wait for Ceph, and Ceph for them, for ever': [
      { dead: { a: 5, b: 5 } },
      ['a'],
    ],
    'starting with the node that fell silent last, because with it Ceph still answered': [
      { dead: { a: 5, b: 3 }, silence: { lastAnswerMs: startMs - 4 * minute } },
      ['b'],
    ],
    'not before its node is silent for two minutes: a short outage passes by itself': [{ dead: { a: 5, b: 1.9 } }, []],
    'not when one of three nodes with monitors is dead: the others are a quorum, so Ceph is silent for another reason':
      [{ dead: { a: 60 } }, []],
    'not when all nodes are Ready: then the network is at fault': [{}, []],
    'not when kubelets complain but still speak: monitors and OSDs run there': [{ complaining: ['a', 'b'] }, []],
    'not when one node is dead and the kubelet of another complains: that monitor may run': [
      { dead: { a: 60 }, complaining: ['b'] },
      [],
    ],
    'not when Ceph answered after both nodes fell silent: only their kubelets are dead, and their OSDs run': [
      { dead: { a: 60, b: 60 }, silence: { lastAnswerMs: startMs - 59 * minute } },
      [],
    ],
    'not when nobody knows of any monitor': [{ dead: { a: 60, b: 60 }, mons: [] }, []],
    'of a node without a monitor never: that would not bring Ceph back': [
      {
        nodes: ['a', 'b', 'c', 'd'],
        dead: { a: 5, b: 5, d: 2 },
        mons: names.map((node) => mon(node, node, node === 'c')),
      },
      ['a'],
    ],
    'not the second while the monitor of the first is still on its way to another node': [
      { dead: { b: 5 }, mons: [mon('a', undefined, false), mon('b', 'b', false), mon('c', 'c', true)] },
      [],
    ],
    'the second too when the first has not brought its monitor back within a quarter of an hour': [
      { dead: { a: 18, b: 18 } },
      ['a', 'b'],
    ],
    'the second when the first is gone and its monitor found no place within a quarter of an hour': [
      { dead: { b: 18 }, mons: [mon('a', undefined, false), mon('b', 'b', false), mon('c', 'c', true)] },
      ['b'],
    ],
    'not when a monitor already runs elsewhere, while its former pod hangs on the dead node': [
      {
        dead: { a: 60, b: 60 },
        mons: [
          {
            name: 'a',
            places: [
              { nodeName: 'a', isReady: false },
              { nodeName: 'c', isReady: true },
            ],
          },
          mon('b', 'b', false),
          mon('c', 'c', true),
        ],
      },
      [],
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [facts, expected]) => {
    expect(released(settled(outage(facts)))).toEqual(expected)
  })

  it('and is looked at again when the two minutes are over: for up to a minute more the machine was kept that explain called released', () => {
    expect(decide(outage({ dead: { a: 1.5, b: 1.75 } })).recheckAfterSeconds).toBe(15)
    expect(decide(outage({ dead: { a: 30, b: 20 } })).recheckAfterSeconds).toBe(60)
  })

  it('never while Ceph answers', () => {
    const silent = outage({ dead: { a: 60, b: 60 } })
    const evidence = known({ polledAtMs: startMs, isClean: known(false), upOsds: new Set([0, 1, 2]) })
    expect(released({ ...silent, clusters: silent.clusters.map((cluster) => ({ ...cluster, evidence })) })).toEqual([])
  })

  it('never when nobody has asked Ceph', () => {
    const silent = outage({ dead: { a: 60, b: 60 } })
    const unasked = silent.clusters.map(({ silence: _silence, ...cluster }) => cluster)
    expect(released({ ...silent, clusters: unasked })).toEqual([])
  })

  it('not while OSDs of another cluster run on it', () => {
    const other = exampleCluster(['a'], { namespace: 'n', name: 'other' })
    const silent = outage({ dead: { a: 5, b: 5 } })
    const now = settled({ ...silent, clusters: [...silent.clusters, other] })
    expect(released(now)).toEqual([])
    const [machine] = now.openshiftMachines ?? []
    expect(Object.keys(machine?.metadata.labels ?? {})).toEqual(['fencegroup.rook.io/other'])
  })
})

describe('what becomes of the machines', () => {
  const dead = { dead: { a: 5, b: 5 } }
  const labelsOf = (objects: FencingObjects) =>
    (objects.openshiftMachines ?? []).map(({ metadata }) => Object.keys(metadata.labels ?? {}).length)

  it('the label of the released one goes, so that a budget does not keep it; the others keep theirs, and no budget opens', () => {
    const now = settled(outage(dead))
    expect(labelsOf(now)).toEqual([0, 1, 1])
    expect(decide(now).clusters.map(({ budget, reason }) => [budget?.maxUnavailable, reason])).toEqual([
      [0, 'QuorumLost'],
    ])
  })

  it('a health check that deletes machines runs on, and a hook keeps the second dead machine', () => {
    const now = settled({ ...outage(dead), openshiftHealthChecks: [workersCheck] })
    expect(now.openshiftHealthChecks[0]?.metadata.annotations ?? {}).toEqual({})
    expect((now.openshiftMachines ?? []).map(({ spec }) => spec?.lifecycleHooks?.preTerminate?.[0]?.name)).toEqual([
      undefined,
      hookName,
      undefined,
    ])
  })

  const rebooting = {
    ...workersCheck,
    metadata: {
      ...workersCheck.metadata,
      annotations: { 'machine.openshift.io/remediation-strategy': 'external-baremetal' },
    },
  }

  it('a health check that can only wait as a whole does not: paused for the second, it would never fence the first', () => {
    const now = settled({ ...outage(dead), openshiftHealthChecks: [rebooting], nodeHealthChecks: [nodesCheck] })
    expect(now.openshiftHealthChecks[0]?.metadata.annotations?.['cluster.x-k8s.io/paused']).toBeUndefined()
    expect(now.nodeHealthChecks?.[0]?.spec?.pauseRequests ?? []).toEqual([])
  })

  it('and waits when it looks after a node whose kubelet still speaks, because OSDs run there', () => {
    const nodes = ['a', 'b', 'c', 'd']
    const mons = names.map((node) => mon(node, node, node === 'c'))
    const now = settled({
      ...outage({ ...dead, nodes, mons, complaining: ['d'] }),
      openshiftHealthChecks: [rebooting],
    })
    expect(now.openshiftHealthChecks[0]?.metadata.annotations?.['cluster.x-k8s.io/paused']).toBeDefined()
  })

  it('whoever must wait is told how to let go by hand', () => {
    const { nodes } = decide(settled(outage(dead)))
    expect(nodes.find(({ node }) => node === 'b')?.wayOut).toContain('manageMachineDisruptionBudgets')
  })
})

describe('whatever is dead, silent or moved', () => {
  const arbitraryNode = fc.constantFrom('ready', 'complains', 0, 1, 2, 5, 18, 120)
  const arbitraryMon = fc.record({
    on: fc.subarray([...names, 'd', 'gone'], { maxLength: 2 }),
    isReady: fc.boolean(),
  })
  const arbitraryOutage = fc.record({
    nodes: fc.tuple(arbitraryNode, arbitraryNode, arbitraryNode, arbitraryNode),
    mons: fc.array(arbitraryMon, { maxLength: 5 }),
    answerMinutes: fc.constantFrom(undefined, 0.5, 4, 60, 240),
  })

  it('a machine is released only from a node that is silent for two minutes, that has a monitor, and without which no majority can run', () => {
    let seen = 0
    fc.assert(
      fc.property(arbitraryOutage, ({ nodes: states, mons, answerMinutes }) => {
        const nodes = [...names, 'd']
        const stateOf = new Map(nodes.map((node, at) => [node, states[at]]))
        const objects = outage({
          nodes,
          dead: Object.fromEntries(
            [...stateOf].filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
          ),
          complaining: nodes.filter((node) => stateOf.get(node) === 'complains'),
          silence: { lastAnswerMs: answerMinutes === undefined ? undefined : startMs - answerMinutes * minute },
          mons: mons.map(({ on, isReady }, at) => ({
            name: `${at}`,
            places: on.map((nodeName) => ({ nodeName, isReady })),
          })),
        })
        const isDead = (node: string) => Number(stateOf.get(node)) >= 2
        const mayRun = mons.filter(({ on, isReady }) =>
          on.some((node) => stateOf.has(node) && !isDead(node) && (stateOf.get(node) !== 'ready' || isReady)),
        )
        const gone = released(settled(objects))
        seen += gone.length
        for (const node of gone) {
          expect(isDead(node)).toBe(true)
          expect(mons.some(({ on }) => on.includes(node))).toBe(true)
        }
        if (gone.length > 0) expect(mayRun.length * 2).toBeLessThanOrEqual(mons.length)
        if ([...stateOf.values()].every((state) => !(Number(state) >= 17))) expect(gone.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 120 },
    )
    expect(seen).toBeGreaterThan(8)
  })
})

describe('the quorum of Ceph in numbers', () => {
  const node = (name: string, more: Partial<FencedNodeView> = {}): FencedNodeView => ({
    name,
    isReady: true,
    notReadySinceMs: undefined,
    bootID: 'boot-1',
    ...more,
  })
  const silentFor = (name: string, minutes: number) =>
    node(name, { isReady: false, isSilent: true, notReadySinceMs: startMs - minutes * minute })
  const ask = (
    nodes: readonly FencedNodeView[],
    mons: readonly FencedMon[],
    silence: CephSilence | undefined = never,
  ) =>
    lostQuorum(
      { mons, ...(silence === undefined ? {} : { silence }) },
      new Map(nodes.map((each) => [each.name, each])),
      startMs,
    )
  const onEach = (...nodes: string[]) => nodes.map((name) => mon(`mon-${name}`, name, false))

  it('names the monitors in order, and the node that fell silent last first', () => {
    const lost = ask([silentFor('a', 5), silentFor('b', 3), node('c')], [...onEach('b', 'a'), mon('mon-c', 'c', true)])
    expect(lost).toEqual({ mons: 3, dead: ['mon-a', 'mon-b'], deadNodes: ['b', 'a'], released: new Set(['b']) })
  })

  it('has three of five while two are dead: Ceph does not answer for another reason', () => {
    const nodes = [silentFor('a', 60), silentFor('b', 60), node('c'), node('d'), node('e')]
    const mons = [...onEach('a', 'b'), ...['c', 'd', 'e'].map((name) => mon(`mon-${name}`, name, true))]
    expect(ask(nodes, mons)).toBeUndefined()
  })

  it('has two of four, which is no majority', () => {
    const nodes = [silentFor('a', 5), silentFor('b', 5), node('c'), node('d')]
    const mons = [...onEach('a', 'b'), ...['c', 'd'].map((name) => mon(`mon-${name}`, name, true))]
    expect(ask(nodes, mons)?.deadNodes).toEqual(['a', 'b'])
  })

  it('is lost with the only monitor, and that node is released', () => {
    expect(ask([silentFor('a', 5)], onEach('a'))?.released).toEqual(new Set(['a']))
  })

  it('counts a node as gone after two whole minutes, and not a moment before', () => {
    const gone = (ms: number) =>
      ask([node('a', { isReady: false, isSilent: true, notReadySinceMs: startMs - ms })], onEach('a'))?.deadNodes
    expect([gone(2 * minute), gone(2 * minute - 1)]).toEqual([['a'], undefined])
  })

  it('does not count a node as gone of which no one knows since when: it may have been a moment', () => {
    expect(ask([node('a', { isReady: false, isSilent: true })], onEach('a'))).toBeUndefined()
  })

  it('waits for monitors that run nowhere before it releases a node: one of them may come back by itself', () => {
    const nodes = [silentFor('a', 5), node('b'), node('c')]
    const mons = [...onEach('a'), mon('mon-b', 'b', false), mon('mon-c', 'c', true)]
    const lost = ask(nodes, mons)
    expect([lost?.dead, lost?.released.size, lost && explainLostQuorum(lost)]).toEqual([
      ['mon-a'],
      0,
      'Ceph has no quorum: 1 of 3 monitors (mon-a) are on nodes without a heartbeat (a). A monitor that was moved or restarted is awaited first.',
    ])
  })

  it('is not a matter of nodes when no monitor is on a dead one', () => {
    const mons = [mon('mon-a', 'a', false), mon('mon-b', 'gone', false), mon('mon-c', undefined, false)]
    expect(ask([node('a')], mons)).toBeUndefined()
  })

  it('releases one more for each quarter of an hour that the last one has not brought a monitor back', () => {
    const nodes = (minutes: number) => ['a', 'b', 'c'].map((name) => silentFor(name, minutes))
    const count = (minutes: number) => ask(nodes(minutes), onEach('a', 'b', 'c'))?.released.size
    expect([2, 16.9, 17, 31.9, 32].map(count)).toEqual([1, 1, 2, 2, 3])
  })

  it('says which node may be fenced', () => {
    const lost = ask([silentFor('a', 5), silentFor('b', 5)], onEach('a', 'b'))
    expect(lost && explainLostQuorum(lost)).toBe(
      'Ceph has no quorum: 2 of 2 monitors (mon-a, mon-b) are on nodes without a heartbeat (a, b). To bring a monitor back, a may be fenced.',
    )
  })

  it('is not lost when Ceph answered after the last node had fallen silent, and is when it answered in that moment', () => {
    const nodes = [silentFor('a', 5), silentFor('b', 5)]
    const answered = (ms: number) => ask(nodes, onEach('a', 'b'), { lastAnswerMs: startMs - 5 * minute + ms })?.mons
    expect([answered(0), answered(1)]).toEqual([2, undefined])
  })

  it('is judged again when the next node counts as gone or the next quarter of an hour is over, and never while Ceph answers', () => {
    const next = (nodes: readonly FencedNodeView[], silence: CephSilence | undefined = never) =>
      quorumChangesInMs(silence === undefined ? {} : { silence }, nodes, startMs)
    const complaining = node('x', { isReady: false, isSilent: false, notReadySinceMs: startMs - minute })
    expect([
      next([silentFor('a', 0.5)]),
      next([silentFor('a', 2)]),
      next([silentFor('a', 7), silentFor('b', 16)]),
      next([silentFor('a', 18)]),
      next([node('a'), complaining, node('y', { isReady: false, isSilent: true })]),
      quorumChangesInMs({}, [silentFor('a', 0.5)], startMs),
    ]).toEqual([1.5 * minute, 15 * minute, minute, 14 * minute, undefined, undefined])
  })
})
