import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideDisruption } from './decide.ts'
import {
  type CountedNode,
  defaultMaintenancePolicy,
  type LimitFacts,
  limitsOver,
  type MaintenanceLimit,
  type MaintenancePolicy,
} from './maintenance-limits.ts'
import { entry, inWords, job0, ledgerOf, minutes, nowMs, other, type Scenario, tell } from './testing/fixture.ts'

const zone = 'topology.kubernetes.io/zone'
const role = 'node-role.kubernetes.io/control-plane'

function node(name: string, facts: Partial<CountedNode> = {}): CountedNode {
  return { name, labels: {}, isReady: true, isClosed: false, ...facts }
}

const control = (name: string, facts: Partial<CountedNode> = {}) => node(name, { labels: { [role]: '' }, ...facts })
const inZone = (name: string, value: string, facts: Partial<CountedNode> = {}) =>
  node(name, { labels: { [zone]: value }, ...facts })

function limited(limit: Partial<MaintenanceLimit>): MaintenancePolicy {
  const all: MaintenanceLimit = { name: 'all', selector: {}, per: undefined, most: { nodes: 1 }, ...limit }
  return { ...defaultMaintenancePolicy, limits: [all] }
}

function facts(nodes: readonly CountedNode[], policy = defaultMaintenancePolicy): string[] {
  return limitsOver('a', nodes, policy).map(({ key, most, away, etcdSpares }) => {
    const spared = etcdSpares === undefined ? '' : `, etcd spares ${etcdSpares}`
    return `${key}: ${most}, away: ${away.map(({ name }) => name).join(' ')}${spared}`
  })
}

const counts: Record<string, { given: readonly CountedNode[]; policy?: MaintenancePolicy; then: string[] }> = {
  'a worker is limited by nothing until somebody says so': { given: [node('a'), node('b')], then: [] },
  'of three control-plane nodes one may be away: two at once would take the API with them': {
    given: [control('a'), control('b'), control('c'), node('d')],
    then: ['limit/control-plane: 1, away: , etcd spares 1'],
  },
  'a control-plane node that is dead is away, whoever knows of it': {
    given: [control('a'), control('b', { isReady: false }), control('c')],
    then: ['limit/control-plane: 1, away: b, etcd spares 1'],
  },
  'a policy that allows three of five would leave etcd without a majority, and is lowered to two': {
    given: ['a', 'b', 'c', 'd', 'e'].map((name) => control(name)),
    policy: { ...defaultMaintenancePolicy, controlPlaneMost: 3 },
    then: ['limit/control-plane: 2, away: , etcd spares 2'],
  },
  'a single control-plane node may be rebooted all the same': {
    given: [control('a')],
    then: ['limit/control-plane: 1, away: , etcd spares 1'],
  },
  'a limit per zone counts the nodes of the same zone, cordoned ones too': {
    given: [inZone('a', 'x'), inZone('b', 'x', { isClosed: true }), inZone('c', 'y', { isClosed: true })],
    policy: limited({ name: 'zone', per: zone }),
    then: ['limit/zone/x: 1, away: b'],
  },
  'nodes without the label are a zone of their own: as many of them could go as there are': {
    given: [node('a'), node('b', { isReady: false }), inZone('c', 'y', { isReady: false })],
    policy: limited({ name: 'zone', per: zone }),
    then: ['limit/zone/: 1, away: b'],
  },
  'a limit of a pool does not count for a node outside it': {
    given: [node('a'), node('b', { labels: { pool: 'gpu' }, isReady: false })],
    policy: limited({ name: 'gpu', selector: { matchLabels: { pool: 'gpu' } } }),
    then: [],
  },
  'a limit of a pool counts no node outside it': {
    given: [node('a', { labels: { pool: 'gpu' } }), node('b', { isReady: false })],
    policy: limited({ name: 'gpu', selector: { matchLabels: { pool: 'gpu' } }, most: { nodes: 2 } }),
    then: ['limit/gpu: 2, away: '],
  },
  'a share is rounded down, and is one node at least: a small pool is not stopped by it': {
    given: [node('a'), node('b'), node('c'), node('d'), node('e')],
    policy: limited({ most: { percent: 10 } }),
    then: ['limit/all: 1, away: '],
  },
  'the node itself is no reason why it may not go': {
    given: [node('a', { isClosed: true, isReady: false }), node('b')],
    policy: limited({}),
    then: ['limit/all: 1, away: '],
  },
}

describe('which limits count a node', () => {
  it.each(Object.entries(counts))('%s', (_sentence, { given, policy, then }) => {
    expect(facts(given, policy)).toEqual(then)
  })
})

const controlPlane: LimitFacts = { key: 'limit/control-plane', most: 1, away: [], open: new Set(), etcdSpares: 1 }
const workers: LimitFacts = { key: 'limit/workers', most: 2, away: [], open: new Set() }
const nodeB = { name: 'node-b', isReady: true }
const glass = { by: 'eve', reason: 'fire', untilMs: nowMs + minutes(5) }
const heldByOther = (key: string) =>
  ledgerOf(entry(key, { requestId: 'R2', holder: other, state: 'Acting', scope: '' }))
const bothHeldByOther = ledgerOf(
  entry('node/node-b', { requestId: 'R2', holder: other, state: 'Acting' }),
  entry('limit/workers', { requestId: 'R2', holder: other, state: 'Acting' }),
)
const limits = (...all: readonly LimitFacts[]): Scenario => ({ pods: [job0], limits: known(all) })

const rows: Record<string, { given: Scenario; then: ReturnType<typeof inWords> }> = {
  'a place of every limit is asked for together with the node, all or none': {
    given: limits(controlPlane, workers),
    then: {
      reason: 'LocksAsked',
      phase: 'Waiting',
      steps: ['take node/node-a, limit/control-plane, limit/workers'],
    },
  },
  'the second control-plane node waits for the first, and keeps its place': {
    given: { ...limits(controlPlane), ledger: heldByOther('limit/control-plane') },
    then: {
      reason: 'MaintenanceLimit',
      phase: 'Waiting',
      steps: ['queue for node/node-a, limit/control-plane'],
      blockedBy: [`limit/control-plane: MaintenanceLimit, ${other}`],
    },
  },
  'a node that somebody else has closed takes a place, and is named': {
    given: limits({ ...workers, most: 1, away: [nodeB] }),
    then: {
      reason: 'MaintenanceLimit',
      phase: 'Waiting',
      steps: ['queue for node/node-a, aside always'],
      blockedBy: ['limit/workers: MaintenanceLimit, node-b (closed)'],
    },
  },
  'a node that is away for a request is counted once, by its request': {
    given: { ...limits({ ...workers, away: [nodeB] }), ledger: bothHeldByOther },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a, limit/workers'] },
  },
  'a node that a request holds without a place takes one though no copy shows its cordon: two would be away beside a limit of one':
    {
      given: { ...limits({ ...workers, most: 1, open: new Set(['node-b']) }), ledger: heldByOther('node/node-b') },
      then: {
        reason: 'MaintenanceLimit',
        phase: 'Waiting',
        steps: ['queue for node/node-a, aside always'],
        blockedBy: [`limit/workers: MaintenanceLimit, node-b (${other})`],
      },
    },
  'a node that a request holds with a place is not counted twice': {
    given: { ...limits({ ...workers, open: new Set(['node-b']) }), ledger: bothHeldByOther },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a, limit/workers'] },
  },
  'a node outside the limit that a request holds takes no place of it': {
    given: { ...limits({ ...workers, most: 1 }), ledger: heldByOther('node/node-b') },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a, limit/workers'] },
  },
  'a limit of 0 is a switch that stops all maintenance': {
    given: limits({ ...workers, most: 0 }),
    then: {
      reason: 'MaintenanceLimit',
      phase: 'Waiting',
      steps: ['queue for node/node-a, aside always'],
      blockedBy: ['limit/workers: MaintenanceLimit, disruptionpolicy/cluster'],
    },
  },
  'break-glass passes over a limit, and breaks no place of another request for it': {
    given: { ...limits({ ...workers, most: 1 }), ledger: heldByOther('limit/workers'), request: { breakGlass: glass } },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a'] },
  },
  'break-glass does not pass over the majority of etcd': {
    given: {
      ...limits({ ...controlPlane, away: [{ name: 'node-b', isReady: false }] }),
      request: { breakGlass: glass },
    },
    then: {
      reason: 'MaintenanceLimit',
      phase: 'Waiting',
      steps: ['queue for node/node-a, aside always'],
      blockedBy: ['limit/control-plane: MaintenanceLimit, node-b (not Ready)'],
    },
  },
  'a control-plane node that is only cordoned runs etcd, so break-glass passes over its cordon': {
    given: { ...limits({ ...controlPlane, away: [nodeB] }), request: { breakGlass: glass } },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a, limit/control-plane'] },
  },
  'a policy that cannot be read lets nothing begin': {
    given: { pods: [job0], limits: unknown('spec.limits.0.maxNodes: Invalid input') },
    then: {
      reason: 'PolicyUnknown',
      phase: 'Waiting',
      steps: ['queue for node/node-a, aside always'],
      blockedBy: ['disruptionpolicy/cluster: PolicyUnknown, not known'],
    },
  },
  'a node that dies before the intent is written counts: everything is given back': {
    given: {
      ...limits({ ...workers, most: 1, away: [nodeB] }),
      ledger: ledgerOf(entry('node/node-a'), entry('limit/workers')),
    },
    then: {
      reason: 'MaintenanceLimit',
      phase: 'Waiting',
      steps: ['step back under 1, aside always'],
      blockedBy: ['limit/workers: MaintenanceLimit, node-b (closed)'],
    },
  },
}

describe('what limits ask of a request', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(inWords(decideDisruption(tell(given)))).toEqual(then)
  })
})

it('a limit says how many it allows and how many are away without a place', () => {
  const wayOut = (most: number, ...away: string[]) => {
    const facts = { ...workers, most, away: away.map((name) => ({ name, isReady: true })) }
    return decideDisruption(tell(limits(facts))).blockedBy[0]?.wayOut
  }
  expect(wayOut(1, 'node-b')).toContain('It allows 1 node in maintenance at once, and 1 is away without a place.')
  expect(wayOut(2, 'node-b', 'node-c')).toContain('It allows 2 nodes in maintenance at once, and 2 are away')
})
