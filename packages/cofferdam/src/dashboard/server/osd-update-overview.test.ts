import { describe, expect, it } from 'vitest'
import type { UpdateReport } from '../../capabilities/osd-update/domain/update-report.ts'
import { buildUpdateParts, type SeenUpdate } from './osd-update-overview.ts'
import type { PlacedOsd } from './placed-osds.ts'

const of = 'rook-ceph/ceph'
function osd(id: number, more: Partial<PlacedOsd> = {}): PlacedOsd {
  const deployment = `rook-ceph-osd-${id}`
  return { id, deployment, needsUpdate: false, isPodReady: true, hasStalled: false, host: 'a', within: [], ...more }
}

function report(more: Partial<UpdateReport> = {}): UpdateReport {
  return {
    namespace: 'rook-ceph',
    cluster: 'ceph',
    reason: 'OsdsUpdating',
    explanation: '1 OSD start now',
    progress: undefined,
    secondsLeft: undefined,
    plan: undefined,
    blocked: [],
    failed: [],
    frozen: undefined,
    startedMs: 1_000,
    done: 0,
    ...more,
  }
}

const progress = { total: 5, done: 1, running: [1], waiting: 1, blocked: 0, failed: 0, roundsLeft: 3, lowerBound: 2 }

function pieces(seen: Partial<SeenUpdate>) {
  return buildUpdateParts({ of, report: report(), osds: [], ...seen })
}

function statesIn(seen: Partial<SeenUpdate>) {
  return pieces(seen).flatMap((piece) => (piece.piece === 'host' ? piece.osds : []))
}

describe('the pieces of an update', () => {
  it('are how it stands, the plan, and each host with where it is and the state of its OSDs', () => {
    const seen = pieces({
      report: report({ progress, plan: [[0, 1], [2]], secondsLeft: 90 }),
      osds: [
        osd(1, { isPodReady: false, within: ['zone x', 'rack r1'] }),
        osd(0, { within: ['zone x', 'rack r1'] }),
        osd(2, { needsUpdate: true, host: 'b' }),
      ],
    })
    expect(seen).toEqual([
      {
        piece: 'board',
        id: 'board rook-ceph/ceph',
        of,
        cluster: 'ceph',
        reason: 'OsdsUpdating',
        explanation: '1 OSD start now',
        total: 3,
        done: 1,
        running: 1,
        waiting: 1,
        blocked: 0,
        failed: 0,
        roundsLeft: 3,
        lowerBound: 2,
        secondsLeft: 90,
        failures: [],
        hindrances: [],
      },
      { piece: 'plan', id: 'plan rook-ceph/ceph', of, rounds: [[0, 1], [2]] },
      {
        piece: 'host',
        id: 'host rook-ceph/ceph a',
        of,
        host: 'a',
        within: ['zone x', 'rack r1'],
        osds: [
          [0, 'done'],
          [1, 'on-the-way'],
        ],
      },
      { piece: 'host', id: 'host rook-ceph/ceph b', of, host: 'b', within: [], osds: [[2, 'waits']] },
    ])
  })

  it('of a finished update say when the last OSD was back', () => {
    const over = report({ reason: 'OsdsUpToDate', lastEndedMs: 5_000 })
    expect(pieces({ report: over, osds: [osd(0)] })[0]).toMatchObject({ done: 1, endedMs: 5_000 })
    expect(pieces({ report: report({ lastEndedMs: 5_000 }), osds: [osd(0)] })[0]).not.toHaveProperty('endedMs')
  })

  it('of many failures and hindrances name a few, and count them all', () => {
    const ids = Array.from({ length: 40 }, (_, id) => id)
    const failed = ids.slice(0, 20).map((id) => ({ osd: id, why: 'late', atMs: 1 }))
    const blocked = ids.slice(20).map((id) => ({ osd: id, why: 'no spare copy' }))
    const [board] = pieces({
      report: report({ reason: 'OsdUpdateFrozen', failed, blocked, frozen: failed[0] }),
      osds: ids.map((id) => osd(id, { needsUpdate: true })),
    })
    expect(board).toMatchObject({
      failed: 20,
      failures: { length: 8, 0: { osd: 0, why: 'late' } },
      blocked: 20,
      hindrances: { length: 3, 0: { osd: 20, why: 'no spare copy' } },
      frozenBy: 0,
    })
  })
})

describe('the state of an OSD', () => {
  const waiting = osd(3, { needsUpdate: true })
  const hindrance = [{ osd: 3, why: 'no spare copy' }]
  const cases: Record<string, { seen: Partial<SeenUpdate>; state: string }> = {
    'an OSD that failed has failed, though it is still on its way': {
      seen: {
        osds: [osd(3)],
        report: report({ failed: [{ osd: 3, why: 'late', atMs: 1 }], progress: { ...progress, running: [3] } }),
      },
      state: 'failed',
    },
    'one that cannot stop beside those on their way only waits for them': {
      seen: { osds: [waiting], report: report({ progress, blocked: hindrance }) },
      state: 'waits',
    },
    'one that cannot stop though nothing is on its way is blocked': {
      seen: { osds: [waiting], report: report({ progress: { ...progress, running: [] }, blocked: hindrance }) },
      state: 'blocked',
    },
    'where none can stop all are blocked, also those that the record has no room to name': {
      seen: { osds: [waiting], report: report({ reason: 'OsdUpdateBlocked' }) },
      state: 'blocked',
    },
    'one that is left alone is blocked while it needs an update': {
      seen: { osds: [osd(3, { needsUpdate: true, leftAlone: 'it is being replaced' })] },
      state: 'blocked',
    },
    'and done when it needs none': { seen: { osds: [osd(3, { leftAlone: 'it is being replaced' })] }, state: 'done' },
    'one that cannot be understood is blocked': { seen: { osds: [osd(3, { problem: 'no image' })] }, state: 'blocked' },
  }
  it.each(Object.entries(cases))('%s', (_name, { seen, state }) => {
    expect(statesIn(seen)).toEqual([[3, state]])
  })
})
