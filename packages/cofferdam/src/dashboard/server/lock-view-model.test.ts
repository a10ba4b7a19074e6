import { describe, expect, it } from 'vitest'
import type { DisruptionLedger } from '../../shared/kinds/disruption-ledger.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { type BudgetView, type NodeView, type PodView, viewDrain } from './cluster-view.ts'
import { viewCluster } from './cluster-view-model.ts'
import { openDrains, viewLocks } from './lock-view-model.ts'
import { viewLedger } from './view-ledger.ts'

const nowMs = Date.parse('2026-01-01T00:00:00Z')
const node = (id: string, isCordoned = false): NodeView => ({
  id,
  zone: 'a',
  roles: [],
  readiness: 'ready',
  isCordoned,
})
const budget = (name: string, annotations?: Record<string, string>): BudgetView => ({
  id: `shop/${name}`,
  namespace: 'shop',
  rule: 'at most 1 down',
  allowed: 1,
  healthy: 3,
  desired: 2,
  expected: 3,
  granted: 0,
  isCounted: true,
  ...(annotations === undefined ? {} : { annotations }),
})
const locked = (name: string, until: string) =>
  budget(name, { 'cofferdam.io/lock': JSON.stringify({ holder: 'ann', reason: 'rebalancing', until }) })
const drain = (name: string, nodeName: string, status: NodeDisruption['status']) =>
  viewDrain({
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name },
    spec: { nodeName, intent: 'Reboot', honourSkipDrain: true },
    ...(status === undefined ? {} : { status }),
  })
const ledger = (status: DisruptionLedger['status']) =>
  viewLedger({
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'DisruptionLedger',
    metadata: { name: 'cluster' },
    ...(status === undefined ? {} : { status }),
  })
const entry = {
  key: 'pdb/shop/orders',
  uid: 'u',
  scope: '',
  holder: 'op-1 for nodedisruption/reboot',
  requestId: 'r',
  epoch: 1,
  state: 'Acting' as const,
  since: '2026-01-01T00:00:00Z',
  renewSequence: 7,
}
const blockedBy = [
  { object: 'pdb/shop/orders', holder: 'ann', reason: 'AppLocked', since: entry.since, wayOut: 'It ends soon.' },
]

describe('locks on the page', () => {
  it('are those of owners while they last, and those of requests', () => {
    const budgets = [locked('web', '2026-01-01T01:00:00Z'), locked('old', '2025-12-31T23:00:00Z'), budget('orders')]
    const view = { budgets, drains: [], ledgers: [ledger({ nextEpoch: 2, nextTicket: 1, entries: [entry] })] }
    const locks = viewLocks(view, nowMs)
    expect(locks.map(({ key, state, holder, until }) => ({ key, state, holder, until }))).toEqual([
      { key: 'pdb/shop/orders', state: 'Acting', holder: entry.holder, until: undefined },
      { key: 'pdb/shop/web', state: 'AppLock', holder: 'ann', until: '2026-01-01T01:00:00Z' },
      { key: 'pdb/shop/old', state: 'Ignored', holder: 'nobody', until: undefined },
    ])
  })

  it('are judged by the limits that the operator has published', () => {
    const budgets = [locked('web', '2026-01-01T06:00:00Z')]
    const settings =
      '{"mode":"reserve","minTolerationSeconds":900,"fallbackAfterSeconds":1800,"maxLockSeconds":28800,"maxHoldSeconds":43200,"locksPerNamespace":5}'
    const published = viewLedger({
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'DisruptionLedger',
      metadata: { name: 'cluster', annotations: { 'cofferdam.io/settings': settings } },
    })
    const endsWith = (ledgers: ReturnType<typeof viewLedger>[]) =>
      viewLocks({ budgets, drains: [], ledgers }, nowMs).map(({ until }) => until)
    expect([endsWith([]), endsWith([published])]).toEqual([['2026-01-01T04:00:00Z'], ['2026-01-01T06:00:00Z']])
  })

  it('of a ledger that makes no sense are not made up', () => {
    const broken = ledger({ nextEpoch: 1, nextTicket: 1, entries: [entry] })
    expect(viewLocks({ budgets: [], drains: [], ledgers: [broken] }, nowMs)).toEqual([])
  })

  it('signs of life of a holder do not redraw the page', () => {
    const at = (renewSequence: number) =>
      ledger({ nextEpoch: 2, nextTicket: 1, entries: [{ ...entry, renewSequence }] })
    expect(at(8)).toEqual(at(7))
  })
})

describe('drains on the page', () => {
  const waiting = drain('b', 'node-2', { phase: 'Waiting', blockedBy })
  const ready = drain('a', 'node-1', {
    phase: 'Drained',
    skippedPods: [{ namespace: 'shop', name: 'orders-0', uid: 'u' }],
  })
  const over = drain('c', 'node-3', { phase: 'Completed' })

  it('that wait for others come first, and those that are over are gone', () => {
    expect(openDrains([ready, over, waiting]).map(({ id }) => id)).toEqual(['b', 'a'])
  })

  it('are told in the headline: which node may go, and what the other waits for', () => {
    const stayed: PodView = {
      id: 'shop/orders-0',
      namespace: 'shop',
      name: 'orders-0',
      app: 'orders',
      node: 'node-1',
      state: 'ready',
      restarts: 0,
    }
    const { headline, zones } = viewCluster({
      nodes: [node('node-1', true), node('node-2')],
      pods: [stayed],
      budgets: [],
      drains: [ready, waiting],
      ledgers: [],
      longhorn: [],
      events: [],
    })
    expect([headline.says, ...headline.more]).toEqual([
      'node-2 is not cordoned yet: its drain waits for pdb/shop/orders, held by ann.',
      'node-1 is drained and can be rebooted now.',
    ])
    expect(zones[0]?.nodes.map(({ state, toMove }) => ({ state, toMove }))).toEqual([
      { state: 'drained', toMove: 0 },
      { state: 'ready', toMove: 0 },
    ])
  })
})
