import { describe, expect, it } from 'vitest'
import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import type { BudgetView, CephView, ClusterView, NodeVerdictView, NodeView, PodView } from './cluster-view.ts'
import { viewCluster } from './cluster-view-model.ts'
import type { Headline } from './headline.ts'
import type { NodeState } from './node-view-model.ts'
import { verdictsOf } from './verdicts-of.ts'

const node = (id: string, more: Partial<NodeView> = {}): NodeView => ({
  id,
  zone: 'a',
  roles: [],
  readiness: 'ready',
  isCordoned: false,
  ...more,
})
const cordoned = (id: string) => node(id, { isCordoned: true })

const pod = (name: string, onNode: string | undefined, more: Partial<PodView> = {}): PodView => ({
  id: `shop/${name}`,
  namespace: 'shop',
  name,
  app: 'web',
  ...(onNode === undefined ? {} : { node: onNode }),
  state: 'ready',
  restarts: 0,
  ...more,
})
const daemon = (name: string, onNode: string) => pod(name, onNode, { ownerKind: 'DaemonSet', app: 'agent' })

const budget = (more: Partial<BudgetView> = {}): BudgetView => ({
  id: 'shop/web',
  namespace: 'shop',
  rule: 'at most 1 down',
  allowed: 1,
  healthy: 4,
  desired: 3,
  expected: 4,
  granted: 0,
  isCounted: true,
  ...more,
})
const full = budget({ allowed: 0, healthy: 3 })

const tell = (
  nodes: NodeView[],
  pods: PodView[] = [],
  budgets: BudgetView[] = [],
  more: Partial<Pick<ClusterView, 'nodeVerdicts' | 'ceph' | 'loads'>> = {},
) => viewCluster({ nodes, pods, budgets, drains: [], ledgers: [], longhorn: [], events: [], ...more })

const lock = { object: 'pdb/shop/web', reason: 'AppLocked', holder: 'ann' }
const held: NodeVerdictView = {
  id: 'n',
  drain: 'PodsLeaving',
  mayGo: false,
  summary: '1 of 2 pods may not go now.',
  blocker: { ...lock, explanation: 'ann has locked it', unblocks: 'the end of the lock' },
  blockers: 1,
  held: { 'shop/q': lock },
}
const ceph: CephView = {
  id: 'rook-ceph/rook-ceph',
  health: 'HEALTH_WARN',
  checks: [{ name: 'OSD_DOWN', message: '2 osds down' }],
  mayGo: false,
  summary: '',
  reason: 'DomainDown',
  explanation: 'zone a is away, so no other may go.',
  type: 'zone',
  domains: [{ name: 'a', state: 'away', says: 'Away', osds: '0, 1', nodes: ['n'] }],
  counts: { free: 0, held: 2, away: 1 },
  mons: { ready: 2, total: 3 },
  state: { placementGroups: '', quorum: '', noout: '' },
  problems: [],
}

describe('the state of a node', () => {
  const cases: Record<string, { given: [NodeView, PodView[]]; then: NodeState }> = {
    'a node that takes pods is ready': { given: [node('n'), [pod('p', 'n')]], then: 'ready' },
    'a silent node is silent, cordoned or not': {
      given: [node('n', { readiness: 'unknown', isCordoned: true }), []],
      then: 'unknown',
    },
    'a cordoned node whose pods stay is cordoned': { given: [cordoned('n'), [pod('p', 'n')]], then: 'cordoned' },
    'a cordoned node that a pod is leaving is draining': {
      given: [cordoned('n'), [pod('p', 'n', { state: 'leaving' }), pod('q', 'n')]],
      then: 'draining',
    },
    'a drain that waits for a budget is a drain: the operator knows': {
      given: [node('n', { isCordoned: true, drain: 'under-way' }), [pod('p', 'n')]],
      then: 'draining',
    },
    'pods that may stay through a drain do not keep it from being drained': {
      given: [node('n', { isCordoned: true, drain: 'done' }), [pod('p', 'n')]],
      then: 'drained',
    },
    'a node that takes pods again is ready, whatever was said of its last drain': {
      given: [node('n', { drain: 'done' }), []],
      then: 'ready',
    },
    'a cordoned node with only daemons, finished and static pods is drained': {
      given: [
        cordoned('n'),
        [daemon('d', 'n'), pod('job', 'n', { state: 'succeeded' }), pod('static', 'n', { ownerKind: 'Node' })],
      ],
      then: 'drained',
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given: [given, pods], then }) => {
    expect(tell([given], pods).zones[0]?.nodes[0]?.state).toBe(then)
  })
})

describe('what is held', () => {
  it('is marked as explain judges it, on nodes that are open too: the lock of an owner is seen before a drain meets it', () => {
    const model = tell([node('n')], [pod('p', 'n'), pod('q', 'n')], [], { nodeVerdicts: [held] }).zones[0]?.nodes[0]
    expect(model?.heldBy).toEqual(new Map([['shop/q', lock]]))
    expect([model?.state, model?.tone]).toEqual(['ready', 'busy'])
  })

  it('colours no node before it was judged', () => {
    expect(tell([node('n')], [pod('p', 'n')], [full]).zones[0]?.nodes[0]).toMatchObject({
      tone: 'calm',
      heldBy: new Map(),
    })
  })
})

describe('pods whose Node was deleted', () => {
  const osd = pod('osd-1', 'dead', { zone: 'c' })

  it('stay in view, in the zone that Rook noted on their OSDs', () => {
    const { zones } = tell([node('n')], [osd, pod('web-1', 'dead')])
    expect(
      zones.map(({ zone, nodes }) => [zone, nodes.map(({ node: { id }, state, podCount }) => [id, state, podCount])]),
    ).toEqual([
      ['a', [['n', 'ready', 0]]],
      ['c', [['dead', 'gone', 2]]],
    ])
  })

  it('are the first thing that the headline says, though all Nodes that are left are ready', () => {
    expect(tell([node('n')], [osd]).headline).toEqual({
      tone: 'alarm',
      says: 'dead is gone: its Node was deleted, and 1 pod is still bound to it.',
      more: [],
    })
  })
})

describe('the verdict on a budget', () => {
  const judged = { id: 'shop/web', tone: 'busy' as const, says: 'Blocked: zone a is away' }
  const cases: Record<string, { given: BudgetView; verdicts?: (typeof judged)[]; then: BudgetVerdict }> = {
    'is that of explain, where it is there': { given: full, verdicts: [judged], then: judged },
    'is what is counted until then': { given: budget({ allowed: 2 }), then: { tone: 'calm', says: '2 may go now' } },
    'guesses no reason until then': { given: full, then: { tone: 'busy', says: 'No pod may go now' } },
    'before the first count it says so': {
      given: budget({ isCounted: false }),
      verdicts: [judged],
      then: { tone: 'busy', says: 'Not counted yet' },
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, verdicts, then }) => {
    expect(verdictsOf(verdicts === undefined ? {} : { verdicts })(given)).toEqual(then)
  })
})

describe('the headline', () => {
  const silent = (id: string) => node(id, { readiness: 'unknown' })
  const leaving = pod('p', 'n', { state: 'leaving' })
  const cases: Record<string, { given: Parameters<typeof tell>; then: Headline }> = {
    'says when there is nothing to see': { given: [[]], then: { tone: 'busy', says: 'No nodes yet.', more: [] } },
    'is calm when all is well': {
      given: [[node('n'), node('m')], [], [budget()]],
      then: { tone: 'calm', says: 'All 2 nodes are ready, and no budget is blocked.', more: [] },
    },
    'does not speak of budgets where there are none': {
      given: [[node('n')]],
      then: { tone: 'calm', says: 'The node is ready.', more: [] },
    },
    'names budgets without room': {
      given: [[node('n'), node('m')], [], [full]],
      then: { tone: 'busy', says: 'All 2 nodes are ready.', more: ['pdb/shop/web: No pod may go now.'] },
    },
    'puts what is broken first': {
      given: [[silent('m'), cordoned('n')], [leaving]],
      then: { tone: 'alarm', says: 'm is NotReady.', more: ['n is draining, 1 pod still to move.'] },
    },
    'names what holds a drain, and by whom': {
      given: [[cordoned('n')], [leaving, pod('q', 'n')], [full], { nodeVerdicts: [held] }],
      then: { tone: 'busy', says: 'n is draining, 2 pods still to move, held by pdb/shop/web (ann).', more: [] },
    },
    'names a dead storage host, and what Ceph makes of it': {
      given: [[silent('n'), node('m')], [], [], { ceph: [ceph] }],
      then: {
        tone: 'alarm',
        says: 'n is NotReady, a storage host of zone a.',
        more: ['Ceph rook-ceph/rook-ceph: zone a is away, so no other may go.'],
      },
    },
    'is not calm while Ceph complains': {
      given: [[node('m')], [], [], { ceph: [{ ...ceph, counts: { free: 3, held: 0, away: 0 } }] }],
      then: { tone: 'busy', says: 'Ceph rook-ceph/rook-ceph is HEALTH_WARN: 2 osds down.', more: [] },
    },
    'lists few by name and many by number': {
      given: [['a', 'b', 'c', 'd', 'e'].map(silent)],
      then: { tone: 'alarm', says: 'a, b and 3 more are NotReady.', more: [] },
    },
    'tells drained from cordoned': {
      given: [[cordoned('n'), cordoned('m'), cordoned('o')], [pod('p', 'o')]],
      then: { tone: 'busy', says: 'o is cordoned.', more: ['n and m are drained.'] },
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(tell(...given).headline).toEqual(then)
  })
})

it('zones, nodes and pods stand in an order that people expect', () => {
  const nodes = [
    node('w10', { zone: 'b' }),
    node('w2', { zone: 'b' }),
    node('c1', { zone: 'b', roles: ['control-plane'] }),
    node('w1', { zone: 'a' }),
  ]
  const pods = [daemon('a-daemon', 'w2'), pod('web-10', 'w2'), pod('web-9', 'w2'), pod('lost', undefined)]
  const { zones, waiting } = tell(nodes, pods)
  expect(zones.map((zone) => [zone.zone, zone.nodes.map(({ node: { id } }) => id)])).toEqual([
    ['a', ['w1']],
    ['b', ['w2', 'w10', 'c1']],
  ])
  expect(zones[1]?.nodes[0]?.pods.map(({ name }) => name)).toEqual(['web-9', 'web-10', 'a-daemon'])
  expect(waiting.map(({ name }) => name)).toEqual(['lost'])
})

it('counts leave out what has ended', () => {
  const pods = [pod('p', 'n'), pod('q', 'n', { state: 'starting' }), pod('job', 'n', { state: 'succeeded' })]
  expect(tell([node('n'), node('m', { readiness: 'not-ready' })], pods, [budget(), full]).counts).toEqual({
    nodes: 2,
    nodesReady: 1,
    pods: 2,
    podsReady: 1,
    budgets: 2,
    budgetsFree: 1,
  })
})
