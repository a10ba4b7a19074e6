import { describe, expect, it } from 'vitest'
import type { UpdatableOsd } from '../domain/snapshot.ts'
import type { UpdateReport } from '../domain/update-report.ts'
import { explainOsdUpdate, type OsdUpdateAnswer } from './explain-osd-update.ts'
import type { SeenUpdate } from './summarize-update.ts'

const progress = { total: 6, done: 1, running: [1], waiting: 4, blocked: 0, failed: 0, roundsLeft: 3, lowerBound: 3 }
const still = { ...progress, running: [] }

const report: UpdateReport = {
  namespace: 'rook-ceph',
  cluster: 'ceph',
  reason: 'OsdsUpdating',
  explanation: '1 OSD is on the way',
  progress,
  secondsLeft: 100,
  plan: undefined,
  blocked: [],
  failed: [],
  frozen: undefined,
  startedMs: 0,
  done: 1,
}

function osd(id: number, facts: Partial<UpdatableOsd> = {}): UpdatableOsd {
  return {
    id,
    deployment: `rook-ceph-osd-${id}`,
    needsUpdate: true,
    isPodReady: true,
    hasStalled: false,
    ...facts,
  }
}

function seen(facts: Partial<SeenUpdate> = {}): SeenUpdate {
  return {
    cluster: {
      apiVersion: 'ceph.rook.io/v1',
      kind: 'CephCluster',
      metadata: { namespace: 'rook-ceph', name: 'ceph' },
    },
    mode: 'own',
    isNamed: true,
    report,
    osds: [osd(0, { needsUpdate: false }), osd(1, { needsUpdate: false, startedMs: 60_000 }), osd(2)],
    growth: undefined,
    isAttended: true,
    ...facts,
  }
}

type Told = Omit<OsdUpdateAnswer, 'cluster' | 'osd'>

const late = { osd: 2, why: 'it was not back 600 s after its update began', atMs: 600_000 }
const look = 'kubectl -n rook-ceph describe pod -l app=rook-ceph-osd,ceph-osd-id=2 shows what is wrong; '
const thaw =
  'the update continues when it is back, or when the CephCluster changes, for example back to the previous image'

const scenarios: Record<string, { readonly id: number; readonly facts?: Partial<SeenUpdate>; readonly told: Told }> = {
  'one that differs in nothing is done': {
    id: 0,
    told: { state: 'done', explanation: 'it is what the CephCluster says' },
  },
  'one that was stopped is on the way since then, whatever holds the others': {
    id: 1,
    facts: { report: { ...report, reason: 'StorageKeyHeld', explanation: 'a drain comes first' } },
    told: {
      state: 'running',
      explanation: 'its pod is ready; Ceph must have it up with all its placement groups peered',
      since: '1970-01-01T00:01:00Z',
    },
  },
  'one whose new pod does not run yet says so': {
    id: 1,
    facts: { osds: [osd(1, { needsUpdate: false, isPodReady: false })] },
    told: { state: 'running', explanation: 'it was stopped, and its new pod is not ready yet' },
  },
  'one whose turn is known waits for its round': {
    id: 2,
    facts: { report: { ...report, plan: [[1], [2, 3], [4]] } },
    told: {
      state: 'waits',
      explanation: 'it is queued for round 2 of 3',
      reason: 'OsdsUpdating',
      round: 2,
      rounds: 3,
    },
  },
  'one without a plan on record waits all the same': {
    id: 2,
    told: { state: 'waits', explanation: 'it is queued', reason: 'OsdsUpdating' },
  },
  'what others on their way stand in the way of is no block': {
    id: 2,
    facts: { report: { ...report, blocked: [{ osd: 2, why: 'placement group 1.a has 2 whole copies' }] } },
    told: {
      state: 'waits',
      explanation: 'it waits for OSDs that are restarting: placement group 1.a has 2 whole copies',
      reason: 'OsdsUpdating',
    },
  },
  'with nobody on the way the same is a block': {
    id: 2,
    facts: {
      report: {
        ...report,
        reason: 'OsdUpdateBlocked',
        progress: still,
        blocked: [{ osd: 2, why: 'placement group 1.a has 2 whole copies' }],
      },
    },
    told: { state: 'blocked', explanation: 'placement group 1.a has 2 whole copies', reason: 'OsdUpdateBlocked' },
  },
  'what holds the whole update holds each that waits, and is named': {
    id: 2,
    facts: { report: { ...report, reason: 'StorageKeyHeld', explanation: 'nodedisruption/r1 comes first' } },
    told: { state: 'blocked', explanation: 'nodedisruption/r1 comes first', reason: 'StorageKeyHeld' },
  },
  'a soak ends by itself': {
    id: 2,
    facts: { report: { ...report, reason: 'OsdUpdateSoaks', explanation: 'the last round is watched' } },
    told: { state: 'waits', explanation: 'the last round is watched', reason: 'OsdUpdateSoaks' },
  },
  'so does the turn of a cordoned node': {
    id: 2,
    facts: { report: { ...report, reason: 'DrainFirst', explanation: 'node-b was cordoned' } },
    told: { state: 'waits', explanation: 'node-b was cordoned', reason: 'DrainFirst' },
  },
  'one that did not come back says what to do': {
    id: 2,
    facts: { report: { ...report, reason: 'OsdUpdateFailed', failed: [late] } },
    told: {
      state: 'failed',
      explanation: late.why,
      reason: 'OsdUpdateFailed',
      since: '1970-01-01T00:10:00Z',
      wayOut: `${look}it is tried again when the CephCluster changes`,
    },
  },
  'the one that froze the update says that it did': {
    id: 2,
    facts: { report: { ...report, reason: 'OsdUpdateFrozen', failed: [late], frozen: late } },
    told: {
      state: 'failed',
      explanation: late.why,
      reason: 'OsdUpdateFrozen',
      since: '1970-01-01T00:10:00Z',
      wayOut: `${look}${thaw}`,
    },
  },
  'others point at the one that froze the update': {
    id: 3,
    facts: {
      osds: [osd(3)],
      report: {
        ...report,
        reason: 'OsdUpdateFrozen',
        explanation: 'osd.2 froze the update',
        failed: [late],
        frozen: late,
      },
    },
    told: {
      state: 'blocked',
      explanation: 'osd.2 froze the update',
      reason: 'OsdUpdateFrozen',
      wayOut: `${look}${thaw}`,
    },
  },
  'one that somebody wants as it is is left alone': {
    id: 2,
    facts: { osds: [osd(2, { leftAlone: 'it is being replaced' })] },
    told: { state: 'left-alone', explanation: 'it is being replaced' },
  },
  'one whose Deployment cannot be understood is blocked by that': {
    id: 2,
    facts: { osds: [osd(2, { problem: 'its Deployment has no container named osd with an image' })] },
    told: { state: 'blocked', explanation: 'its Deployment has no container named osd with an image' },
  },
  'before the operator has looked it waits': {
    id: 2,
    facts: { report: undefined },
    told: { state: 'waits', explanation: 'it has not started yet' },
  },
  'without an operator nothing will begin': {
    id: 2,
    facts: { report: undefined, isAttended: false },
    told: { state: 'blocked', explanation: 'it has not started yet: no operator is running' },
  },
  'where updates are off nothing will begin either': {
    id: 2,
    facts: { mode: 'off' },
    told: { state: 'blocked', explanation: 'updates of OSDs are switched off', reason: 'OsdUpdateOff' },
  },
  'one whose Deployment may not be read is unknown, not done': {
    id: 2,
    facts: { osds: undefined },
    told: { state: 'unknown', explanation: 'its Deployment cannot be seen' },
  },
}

describe('how far the update of an OSD is', () => {
  it.each(Object.entries(scenarios))('%s', (_name, { id, facts, told }) => {
    expect(explainOsdUpdate(seen(facts), id)).toEqual({ cluster: 'rook-ceph/ceph', osd: id, ...told })
  })
})
