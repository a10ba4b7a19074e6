import { describe, expect, it } from 'vitest'
import { viewCluster } from './cluster-view-model.ts'
import type { UpdateHost, UpdateOverview } from './osd-update-overview.ts'
import { headUpdate, updateSentences, viewUpdates } from './osd-update-view-model.ts'

function overview(more: Partial<UpdateOverview> = {}): UpdateOverview {
  return {
    piece: 'board',
    id: 'board rook-ceph/rook-ceph',
    of: 'rook-ceph/rook-ceph',
    cluster: 'rook-ceph',
    reason: 'OsdsUpdating',
    explanation: '',
    total: 120,
    done: 34,
    running: 6,
    waiting: 78,
    blocked: 2,
    failed: 0,
    roundsLeft: 9,
    lowerBound: 8,
    secondsLeft: 720,
    failures: [],
    hindrances: [],
    ...more,
  }
}

const idle = { done: 120, running: 0, waiting: 0, blocked: 0, failed: 0, roundsLeft: 0, secondsLeft: 0 }

describe('the headline of an update', () => {
  const cases: Record<string, { given: Partial<UpdateOverview>; tone?: string; says: string }> = {
    'counts everything, and says how long and how many rounds': {
      given: {},
      says: 'OSD update of rook-ceph: 34 of 120 done, 6 restarting, 78 wait, 2 blocked · about 12m left · 9 rounds left (fewest possible 8)',
    },
    'leaves out what is nought, and says when the plan cannot be shorter': {
      given: { blocked: 0, running: 0, waiting: 1, roundsLeft: 8, secondsLeft: 5_400 },
      says: 'OSD update of rook-ceph: 34 of 120 done, 1 waits · about 1h 30m left · 8 rounds left, the fewest possible',
    },
    'says nothing of the fewest when a single round is left': {
      given: { roundsLeft: 1, lowerBound: 1, secondsLeft: 40, blocked: 0 },
      says: 'OSD update of rook-ceph: 34 of 120 done, 6 restarting, 78 wait · about 40s left · 1 round left',
    },
    'is an alarm when an OSD failed': {
      given: { failed: 1, blocked: 0, roundsLeft: 0, secondsLeft: 7_200 },
      tone: 'alarm',
      says: 'OSD update of rook-ceph: 34 of 120 done, 6 restarting, 78 wait, 1 failed · about 2h left',
    },
    'is calm and short when all is done': {
      given: { ...idle, reason: 'OsdsUpToDate' },
      tone: 'calm',
      says: 'All 120 OSDs of rook-ceph are up to date',
    },
    'does not count among the done what somebody wants left alone': {
      given: { ...idle, done: 118, blocked: 2, reason: 'OsdsUpToDate' },
      tone: 'calm',
      says: '118 of 120 OSDs of rook-ceph are up to date, and 2 left alone',
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, tone = 'busy', says }) => {
    const { secondsLeft, ...rest } = overview(given)
    expect(headUpdate(secondsLeft === 0 ? rest : { ...rest, secondsLeft: secondsLeft as number })).toEqual({
      tone,
      says,
    })
  })

  it('has a warning with reason and explanation while nothing starts', () => {
    const held = { reason: 'StorageKeyHeld', explanation: 'node-a is drained and is first in the queue' }
    expect(headUpdate(overview(held))).toMatchObject({ tone: 'busy', warning: held })
    const frozen = { reason: 'OsdUpdateFrozen', explanation: 'osd.4 froze the update' }
    expect(headUpdate(overview(frozen))).toMatchObject({ tone: 'alarm', warning: frozen })
  })

  it('of a change that the operator has not looked at yet takes nothing for done', () => {
    expect(headUpdate(overview({ ...idle, done: 0, waiting: 120, reason: 'OsdsUpToDate' })).tone).toBe('busy')
  })
})

describe('what the page says above all', () => {
  const cases: Record<string, { given: Partial<UpdateOverview>; then: ReturnType<typeof updateSentences> }> = {
    'how far it is': {
      given: {},
      then: [{ isAlarming: false, says: 'OSDs of rook-ceph are being updated, 34 of 120 done.' }],
    },
    'what it waits for': {
      given: { reason: 'StorageKeyHeld' },
      then: [{ isAlarming: false, says: 'The OSD update of rook-ceph waits: the storage is held by another request.' }],
    },
    'who froze it': {
      given: { reason: 'OsdUpdateFrozen', frozenBy: 4, failed: 1 },
      then: [{ isAlarming: true, says: 'The OSD update of rook-ceph is frozen: osd.4 did not come back.' }],
    },
    'how many could not be updated': {
      given: { reason: 'OsdUpdateFailed', failed: 2 },
      then: [{ isAlarming: true, says: '2 OSDs of rook-ceph could not be updated.' }],
    },
    'nothing when it is over': { given: { ...idle, reason: 'OsdsUpToDate' }, then: [] },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(updateSentences([overview(given)])).toEqual(then)
  })
})

describe('the headline of the page', () => {
  const tell = (given: Partial<UpdateOverview>) => {
    const node = { id: 'n1', zone: 'a', roles: [], readiness: 'ready' as const, isCordoned: false }
    const view = { nodes: [node], pods: [], budgets: [], drains: [], ledgers: [], longhorn: [], events: [] }
    return viewCluster({ ...view, osdUpdates: [overview(given)] }).headline
  }

  it('tells of an update that goes on, calls a frozen one an alarm, and is calm when it is over', () => {
    expect(tell({})).toEqual({ tone: 'busy', says: 'OSDs of rook-ceph are being updated, 34 of 120 done.', more: [] })
    expect(tell({ reason: 'OsdUpdateFrozen', frozenBy: 4, failed: 1 })).toMatchObject({ tone: 'alarm' })
    expect(tell({ ...idle, reason: 'OsdsUpToDate' })).toEqual({ tone: 'calm', says: 'The node is ready.', more: [] })
  })
})

it('puts the pieces of each cluster together again, neighbours beside each other', () => {
  const host = (of: string, name: string, within: string[]): UpdateHost => ({
    piece: 'host',
    id: `host ${of} ${name}`,
    of,
    host: name,
    within,
    osds: [],
  })
  const [b, a] = ['ns/b', 'ns/a'].map((of) => overview({ id: `board ${of}`, of }))
  const plan = { piece: 'plan' as const, id: 'plan ns/a', of: 'ns/a', rounds: [[0]] }
  const hosts = [host('ns/a', 'n10', ['rack r1']), host('ns/a', 'n9', ['rack r2']), host('ns/a', 'n2', ['rack r1'])]
  const told = viewUpdates([b, ...hosts, plan, a].filter((piece) => piece !== undefined))
  expect(told).toEqual([
    { overview: a, plan, hosts: [hosts[2], hosts[0], hosts[1]] },
    { overview: b, plan: undefined, hosts: [] },
  ])
})
