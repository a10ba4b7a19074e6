import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideOsdUpdate, needsCeph } from './decide.ts'
import { arbiter, entry, ours } from './testing/storage-entries.ts'
import { away, nowMs, osdDown, told, type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'

/** Every placement group needs all it has. */
const short: UpdateFixture = {
  map: { pools: [{ id: 1, minSize: 3 }], pgs: [{ pg: '1.0', acting: [0, 2, 4] }] },
  needing: [0, 2, 4],
}

const cases: Record<string, { given: UpdateFixture; reason: string; start: readonly number[] }> = {
  'all that share no placement group start together': { given: {}, reason: 'OsdsUpdating', start: [0, 1] },
  'one at a time where one is the limit, the first in line first (42)': {
    given: { settings: { maxInParallel: { kind: 'count', count: 1 } } },
    reason: 'OsdsUpdating',
    start: [0],
  },
  'what is up to date already is never part of a batch, so no place in it is wasted (43, 44)': {
    given: { needing: [2, 5] },
    reason: 'OsdsUpdating',
    start: [2, 5],
  },
  'an OSD that Ceph has and that has no Deployment is not updated (45)': {
    given: { ids: [2, 3, 4, 5], settings: { maxInParallel: { kind: 'count', count: 9 } } },
    reason: 'OsdsUpdating',
    start: [2, 3],
  },
  'nothing starts where every placement group needs all it has, and the first of them is named (46)': {
    given: { map: { pools: [{ id: 1, minSize: 3 }], pgs: [{ pg: '1.0', acting: [0, 2, 4] }] }, needing: [0, 2, 4] },
    reason: 'OsdUpdateBlocked',
    start: [],
  },
  'right after a round the next one is being prepared while copies come back, so that nobody searches for what is wrong':
    {
      given: { ...short, ceph: { isClean: known(false) }, record: { startedMs: 1, lastEndedMs: nowMs - 20_000 } },
      reason: 'OsdsUpdating',
      start: [],
    },
  'a minute after a round without a clean placement group more, nothing can start and it is said': {
    given: { ...short, ceph: { isClean: known(false) }, record: { startedMs: 1, lastEndedMs: nowMs - 60_000 } },
    reason: 'OsdUpdateBlocked',
    start: [],
  },
  'right after a round that left all clean, what cannot start never will, and it is said at once': {
    given: { ...short, ceph: { isClean: known(true) }, record: { startedMs: 1, lastEndedMs: nowMs - 20_000 } },
    reason: 'OsdUpdateBlocked',
    start: [],
  },
  'with the gate of clean placement groups nothing starts while one is not (47)': {
    given: { settings: { requiresHealthyPgs: true }, ceph: { isClean: known(false) } },
    reason: 'PgsNotClean',
    start: [],
  },
  'with that gate nothing starts either while it is not known whether they are clean (47)': {
    given: { settings: { requiresHealthyPgs: true }, ceph: { isClean: unknown('reports are old') } },
    reason: 'PgsNotClean',
    start: [],
  },
  'with that gate OSDs start when all placement groups are clean (48)': {
    given: { settings: { requiresHealthyPgs: true } },
    reason: 'OsdsUpdating',
    start: [0, 1],
  },
  'as in Rook an OSD that data needs is stopped alone where the CephCluster says so, or the update would never end (49)':
    {
      given: {
        map: { pools: [{ id: 1, minSize: 3 }], pgs: [{ pg: '1.0', acting: [0, 2, 4] }] },
        needing: [0],
        settings: { continueUpgradeAfterChecksEvenIfNotHealthy: true, skipUpgradeChecks: true },
      },
      reason: 'OsdsUpdating',
      start: [0],
    },
  'what failed under this generation is not tried again, and the others go on (50)': {
    given: { record: { failed: [{ osd: 0, why: 'the API server refused it', atMs: nowMs }] } },
    reason: 'OsdsUpdating',
    start: [1, 2],
  },
  'an OSD whose Deployment cannot be understood is told of, and the others go on (51, 54)': {
    given: { osds: { 0: { problem: 'its Deployment has no container named osd' } } },
    reason: 'OsdsUpdating',
    start: [1, 2],
  },
  'OSDs that are to be left alone are passed over (52, 53)': {
    given: { osds: { 0: { leftAlone: 'its node is gone' }, 1: { leftAlone: 'do-not-reconcile' } } },
    reason: 'OsdsUpdating',
    start: [2, 3],
  },
  'unlike with Rook fewer than three OSDs are judged like all others, only one at a time (39)': {
    given: {
      ids: [0, 1],
      map: { hosts: { 'host-a': [0], 'host-b': [1] }, pools: [{ id: 1, size: 2, minSize: 1 }], pgs: [] },
    },
    reason: 'OsdsUpdating',
    start: [0],
  },
  'a single OSD that has the only copy is not stopped, and it is said why (39)': {
    given: {
      ids: [0],
      map: { hosts: { 'host-a': [0] }, pools: [{ id: 1, size: 1, minSize: 1 }], pgs: [{ pg: '1.0', acting: [0] }] },
    },
    reason: 'OsdUpdateBlocked',
    start: [],
  },
  'with that gate an OSD that is down is updated all the same: its return may be what makes them clean again': {
    given: {
      settings: { requiresHealthyPgs: true },
      ceph: { isClean: known(false) },
      osds: { 0: { isPodReady: false } },
      map: { osds: [osdDown(0)], pgs: [{ pg: '1.0', acting: [2, 4], state: 'active+undersized+degraded' }] },
    },
    reason: 'OsdsUpdating',
    start: [0],
  },
  'no upgrade begins while Ceph is not healthy (34)': {
    given: { cluster: { isUpgrade: true }, ceph: { isHealthy: false } },
    reason: 'CephUnhealthy',
    start: [],
  },
  'an upgrade begins all the same when checks are to be skipped, one OSD at a time (34)': {
    given: { cluster: { isUpgrade: true }, ceph: { isHealthy: false }, settings: { skipUpgradeChecks: true } },
    reason: 'OsdsUpdating',
    start: [0],
  },
  'an upgrade begins all the same when it is to go on in spite of bad health (34)': {
    given: {
      cluster: { isUpgrade: true },
      ceph: { isHealthy: false },
      settings: { continueUpgradeAfterChecksEvenIfNotHealthy: true },
    },
    reason: 'OsdsUpdating',
    start: [0, 1],
  },
  'a change that is no upgrade needs no healthy Ceph, only safe placement groups': {
    given: { ceph: { isHealthy: false } },
    reason: 'OsdsUpdating',
    start: [0, 1],
  },
  'without an answer of Ceph nothing starts': {
    given: { ceph: unknown('no monitor answers') },
    reason: 'SafetyUnknown',
    start: [],
  },
  'while the ledger cannot be read nothing starts': {
    given: { arbiter: unknown('the API server does not answer') },
    reason: 'LedgerUnknown',
    start: [],
  },
  'while a drain holds a failure domain nothing starts': {
    given: { arbiter: arbiter({ others: [entry({})] }) },
    reason: 'StorageKeyHeld',
    start: [],
  },
  'while ceph-drain itself holds a domain that failed nothing starts': {
    given: { arbiter: arbiter({ own: [entry({ requestId: 'ceph-drain/uid-1/host-a' })] }) },
    reason: 'StorageKeyHeld',
    start: [],
  },
  'a drain that waits gets its turn before anything new starts, although the update holds the storage': {
    given: {
      arbiter: arbiter({
        others: [ours],
        tickets: [{ requestId: 'drain-1', number: 1, holder: 'a drain', since: '', claims: [] }],
      }),
    },
    reason: 'StorageKeyHeld',
    start: [],
  },
  'a record that cannot be read stops everything, for it may say that the update is frozen': {
    given: { recordProblem: 'its key record is no JSON' },
    reason: 'UpdateRecordUnreadable',
    start: [],
  },
  'a CephCluster that is being deleted stops everything': {
    given: { cluster: { isBeingDeleted: true } },
    reason: 'ClusterDeleted',
    start: [],
  },
  'nothing starts where updates are switched off': {
    given: { cluster: { mode: 'off' } },
    reason: 'OsdUpdateOff',
    start: [],
  },
  'an OSD on its way counts as gone although Ceph has not noticed: its neighbours wait': {
    given: { needing: [2, 3, 4, 5], osds: { 0: away(2) } },
    reason: 'OsdsUpdating',
    start: [3],
  },
  'with a barrier nothing starts until all of the round are back': {
    given: { settings: { pace: 'barrier' }, needing: [2, 3, 4, 5], osds: { 0: away(2) } },
    reason: 'OsdsUpdating',
    start: [],
  },
  'a pod that is ready is not enough: until Ceph has the OSD up its neighbours wait': {
    given: {
      needing: [2, 4],
      osds: { 0: { ...away(20), isPodReady: true } },
      map: { osds: [osdDown(0)], pgs: [{ pg: '1.0', acting: [2, 4], state: 'active+undersized+degraded' }] },
    },
    reason: 'OsdsUpdating',
    start: [],
  },
  'up in Ceph is not enough: until its placement groups have peered its neighbours wait': {
    given: { needing: [2, 4], osds: { 0: { ...away(20), isPodReady: true } }, ceph: { peered: new Set([2, 4]) } },
    reason: 'OsdsUpdating',
    start: [],
  },
  'an OSD whose pod died by itself counts as gone although Ceph has not noticed': {
    given: { needing: [2, 4], osds: { 0: { needsUpdate: false, isPodReady: false } } },
    reason: 'OsdUpdateBlocked',
    start: [],
  },
  'an OSD that is not back by its deadline freezes the update, and the others wait (62)': {
    given: { needing: [1, 3], osds: { 0: away(601) } },
    reason: 'OsdUpdateFrozen',
    start: [],
  },
  'an OSD whose Deployment has stalled freezes the update before its deadline (62)': {
    given: { needing: [1, 3], osds: { 0: { ...away(30), hasStalled: true } } },
    reason: 'OsdUpdateFrozen',
    start: [],
  },
  'the update stays frozen although somebody changed nothing but time': {
    given: { record: { frozen: { osd: 0, why: 'it did not come back', atMs: 1 } }, osds: { 0: away(9_000) } },
    reason: 'OsdUpdateFrozen',
    start: [],
  },
  'an OSD that was down before it was touched does not freeze the others when it stays away': {
    given: {
      needing: [1, 3],
      osds: { 0: away(601) },
      record: { wereDown: [0] },
      map: {
        osds: [osdDown(0)],
        pgs: [
          { pg: '1.0', acting: [2, 4], state: 'active+undersized+degraded' },
          { pg: '1.1', acting: [1, 3, 5] },
        ],
      },
    },
    reason: 'OsdsUpdating',
    start: [1],
  },
  'the first round with canary is one OSD': {
    given: { settings: { canary: true } },
    reason: 'OsdsUpdating',
    start: [0],
  },
  'after the canary is back at most two follow': {
    given: {
      settings: { canary: true },
      map: { pgs: [] },
      needing: [1, 2, 3, 4, 5],
      record: { startedMs: 1, done: 1 },
    },
    reason: 'OsdsUpdating',
    start: [1, 2],
  },
  'while the canary is out nothing else starts, whatever the pace': {
    given: { settings: { canary: true }, needing: [1, 2, 3, 4, 5], osds: { 0: away(5) } },
    reason: 'OsdsUpdating',
    start: [],
  },
  'what was updated is watched for the soak time before the next round': {
    given: { settings: { soakSeconds: 60 }, record: { startedMs: 1, lastEndedMs: nowMs - 20_000 } },
    reason: 'OsdUpdateSoaks',
    start: [],
  },
  'the next round starts when the soak time is over': {
    given: { settings: { soakSeconds: 60 }, record: { startedMs: 1, lastEndedMs: nowMs - 60_000 } },
    reason: 'OsdsUpdating',
    start: [0, 1],
  },
  'the first round of a change does not wait for the soak of the one before': {
    given: { settings: { soakSeconds: 60 }, record: { lastEndedMs: nowMs - 1_000 } },
    reason: 'OsdsUpdating',
    start: [0, 1],
  },
  'domain by domain, all of the first host go and no other although it could': {
    given: { settings: { order: 'by-domain' }, map: { pgs: [] } },
    reason: 'OsdsUpdating',
    start: [0, 1],
  },
  'domain by domain, the next host waits until the last OSD of this one is back': {
    given: { settings: { order: 'by-domain' }, map: { pgs: [] }, needing: [2, 3, 4, 5], osds: { 1: away(5) } },
    reason: 'OsdsUpdating',
    start: [],
  },
  'an OSD whose pod somebody holds waits, and the others go on: one lock does not stop the whole restart': {
    given: { osds: { 0: { held: 'alice locked its budget' } } },
    reason: 'OsdsUpdating',
    start: [1, 2],
  },
  'nothing starts while somebody holds every pod, so the storage is not taken for evictions that can only be refused': {
    given: {
      needing: [0, 1],
      osds: { 0: { held: 'alice locked its budget' }, 1: { held: 'alice locked its budget' } },
    },
    reason: 'OsdUpdateBlocked',
    start: [],
  },
  'no more start than the budget of somebody else lets go at once: the rest would only be refused': {
    given: {
      osds: {
        0: { takesFrom: { budget: 'rook-ceph-osd', room: 1 } },
        1: { takesFrom: { budget: 'rook-ceph-osd', room: 1 } },
      },
    },
    reason: 'OsdsUpdating',
    start: [0],
  },
  'two budgets of others limit each its own OSDs': {
    given: {
      osds: { 0: { takesFrom: { budget: 'one', room: 1 } }, 1: { takesFrom: { budget: 'other', room: 1 } } },
    },
    reason: 'OsdsUpdating',
    start: [0, 1],
  },
  'a reserve keeps one copy more than the pool needs, so with size 3 nothing can go': {
    given: { settings: { reserve: 1 } },
    reason: 'OsdUpdateBlocked',
    start: [],
  },
}

describe('what is updated next', () => {
  for (const [name, { given, reason, start }] of Object.entries(cases)) {
    it(name, () => {
      expect(told(given)).toEqual([reason, start])
    })
  }

  it('names who holds the pods that wait, and claims nothing for them', () => {
    const held = { held: 'alice locked its budget' }
    const { blocked, claim, explanation, progress } = decideOsdUpdate(
      updateSnapshot({ needing: [0, 1], osds: { 0: held, 1: held }, arbiter: arbiter() }),
    )
    expect({ blocked, claim, explanation, running: progress.running }).toEqual({
      blocked: [
        { osd: 0, why: 'alice locked its budget' },
        { osd: 1, why: 'alice locked its budget' },
      ],
      claim: undefined,
      explanation: '2 OSDs to update, none can stop now (osd.0: alice locked its budget)',
      running: [],
    })
  })

  it('asks Ceph nothing and claims nothing when no OSD needs an update, and says so (41, 58)', () => {
    const { ceph: _, ...seen } = updateSnapshot({ needing: [], arbiter: arbiter() })
    const decision = decideOsdUpdate({ ...seen, ceph: undefined })
    expect([needsCeph(seen), decision]).toEqual([
      false,
      {
        reason: 'OsdsUpToDate',
        explanation: 'no OSD needs an update',
        start: [],
        progress: {
          total: 6,
          done: 6,
          running: [],
          waiting: 0,
          blocked: 0,
          failed: 0,
          roundsLeft: 0,
          lowerBound: 0,
          secondsLeft: undefined,
        },
        blocked: [],
        record: seen.record,
        recheckAfterSeconds: undefined,
      },
    ])
  })

  it('starts nothing and raises an alarm when the second reckoning refuses what the first one chose', () => {
    const refuse = () => ({ isSafe: false as const, why: 'placement group 1.0 of pool rbd is not active' })
    const { reason, explanation, start, record, claim } = decideOsdUpdate(
      updateSnapshot({ arbiter: arbiter() }),
      refuse,
    )
    expect([reason, explanation, start, record.startedMs, claim]).toEqual([
      'ChecksDisagree',
      'the plan would let OSDs stop, and the second check refuses: placement group 1.0 of pool rbd is not active; please report this',
      [],
      undefined,
      undefined,
    ])
  })

  it('names the ConfigMap that cannot be read, keeps it as it is, and says what to do', () => {
    const snapshot = updateSnapshot({ recordProblem: 'its key record is no JSON' })
    const { explanation, record, recheckAfterSeconds } = decideOsdUpdate(snapshot)
    expect([explanation, record === snapshot.record, recheckAfterSeconds]).toEqual([
      'ConfigMap cofferdam-osd-update-rook-ceph cannot be read: its key record is no JSON; repair it, or delete it to start again',
      true,
      undefined,
    ])
  })

  it('names each OSD that cannot go, with the placement group and pool that need it', () => {
    const { blocked } = decideOsdUpdate(
      updateSnapshot({
        map: { pools: [{ id: 1, minSize: 3 }], pgs: [{ pg: '1.0', acting: [0, 2, 4] }] },
        needing: [0, 1],
        osds: { 5: { needsUpdate: true, leftAlone: 'it is being replaced' } },
        settings: { maxInParallel: { kind: 'count', count: 1 } },
      }),
    )
    expect(blocked).toEqual([
      { osd: 0, why: 'placement group 1.0 of pool rbd has 3 whole copies up and must keep 3' },
      { osd: 5, why: 'it is being replaced' },
    ])
  })
})
