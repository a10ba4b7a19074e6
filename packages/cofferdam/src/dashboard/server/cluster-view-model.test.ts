import { describe, expect, it } from 'vitest'
import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import type { BudgetView, NodeView, PodView } from './cluster-view.ts'
import { type Headline, type NodeState, verdictsOf, viewCluster } from './cluster-view-model.ts'

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
  labels: { app: 'web' },
  ...more,
})
const daemon = (name: string, onNode: string) => pod(name, onNode, { ownerKind: 'DaemonSet', app: 'agent', labels: {} })

const budget = (more: Partial<BudgetView> = {}): BudgetView => ({
  id: 'shop/web',
  namespace: 'shop',
  selector: { matchLabels: { app: 'web' } },
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

const tell = (nodes: NodeView[], pods: PodView[] = [], budgets: BudgetView[] = []) =>
  viewCluster({ nodes, pods, budgets, drains: [], ledgers: [], longhorn: [], events: [] })

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

describe('pods held in place', () => {
  it('are those of a cordoned node that a budget without room selects', () => {
    const pods = [pod('p', 'n'), pod('other', 'n', { labels: { app: 'db' } }), pod('gone', 'n', { state: 'leaving' })]
    const story = tell([cordoned('n')], pods, [full]).zones[0]?.nodes[0]
    expect(story?.heldBy).toEqual(new Map([['shop/p', 'shop/web']]))
    expect(story?.toMove).toBe(3)
  })

  const nobody: Record<string, { nodes: NodeView[]; budgets: BudgetView[] }> = {
    'the node takes pods': { nodes: [node('n')], budgets: [full] },
    'the budget has room': { nodes: [cordoned('n')], budgets: [budget()] },
    'the budget is of another namespace': { nodes: [cordoned('n')], budgets: [{ ...full, namespace: 'other' }] },
    'the budget selects nothing': {
      nodes: [cordoned('n')],
      budgets: [(({ selector: _selector, ...rest }) => rest)(full)],
    },
  }
  it.each(Object.entries(nobody))('nobody is held when %s', (_name, { nodes, budgets }) => {
    expect(tell(nodes, [pod('p', 'n')], budgets).zones[0]?.nodes[0]?.heldBy).toEqual(new Map())
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
      then: { tone: 'calm', says: 'All 2 nodes are ready, and every budget has room.', more: [] },
    },
    'does not speak of budgets where there are none': {
      given: [[node('n')]],
      then: { tone: 'calm', says: 'The node is ready.', more: [] },
    },
    'names budgets without room': {
      given: [[node('n'), node('m')], [], [full]],
      then: { tone: 'busy', says: 'All 2 nodes are ready.', more: ['shop/web allow no eviction now.'] },
    },
    'puts what is broken first': {
      given: [[silent('m'), cordoned('n')], [leaving]],
      then: { tone: 'alarm', says: 'm is not ready.', more: ['n is draining, 1 pod still to move.'] },
    },
    'says who holds a drain up': {
      given: [[cordoned('n')], [leaving, pod('q', 'n')], [full]],
      then: {
        tone: 'busy',
        says: 'n is draining, 2 pods still to move.',
        more: ['Budget shop/web holds 1 pod in place.'],
      },
    },
    'lists few by name and many by number': {
      given: [['a', 'b', 'c', 'd', 'e'].map(silent)],
      then: { tone: 'alarm', says: 'a, b and 3 more are not ready.', more: [] },
    },
    'tells drained from cordoned': {
      given: [[cordoned('n'), cordoned('m'), cordoned('o')], [pod('p', 'o')]],
      then: { tone: 'busy', says: 'o takes no new pods.', more: ['n and m are drained.'] },
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
    budgetsWithRoom: 1,
  })
})
