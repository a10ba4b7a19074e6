import { describe, expect, it } from 'vitest'
import { decideOsdUpdate, needsCeph } from './decide.ts'
import { away, nowMs, osdDown, told, type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'

describe('what is remembered of an update', () => {
  it('is the failure and what froze the rest, while others on their way may finish', () => {
    const { record, progress, explanation } = decideOsdUpdate(
      updateSnapshot({ needing: [2, 4], osds: { 0: away(601), 1: away(10) } }),
    )
    const failure = {
      osd: 0,
      why: 'it was not back 600 s after its update began: its pod is not ready',
      atMs: nowMs,
    }
    expect([record.failed, record.frozen, progress.running, explanation]).toEqual([
      [failure],
      failure,
      [1],
      `osd.0 froze the update: ${failure.why}; the update continues when it is back, or when the CephCluster changes; ` +
        '1 OSD already restarting may finish',
    ])
  })

  it('is forgotten for a new generation: the OSD that froze the old one is the first to get the new', () => {
    const frozen = { osd: 0, why: 'it did not come back', atMs: 1 }
    const decision = decideOsdUpdate(
      updateSnapshot({
        cluster: { generation: 2 },
        record: { generation: 1, startedMs: 1, failed: [frozen], frozen, done: 7 },
        osds: { 0: { ...away(900), needsUpdate: true } },
        map: {
          osds: [osdDown(0)],
          pgs: [
            { pg: '1.0', acting: [2, 4], state: 'active+undersized+degraded' },
            { pg: '1.1', acting: [1, 3, 5] },
          ],
        },
      }),
    )
    expect([decision.reason, decision.start, decision.record]).toEqual([
      'OsdsUpdating',
      [0, 1],
      {
        generation: 2,
        startedMs: nowMs,
        failed: [],
        frozen: undefined,
        lastEndedMs: undefined,
        settledMs: nowMs - 900_000,
        wereDown: [0],
        noout: [1],
        done: 0,
      },
    ])
  })

  it('freezes again at once when the new generation changes nothing for the OSD that is out: the bad image is still there', () => {
    const frozen = { osd: 0, why: 'it did not come back', atMs: 1 }
    const given = { generation: 1, startedMs: 1, failed: [frozen], frozen, settledMs: nowMs - 900_000 }
    expect(told({ cluster: { generation: 2 }, record: given, needing: [1, 3], osds: { 0: away(900) } })).toEqual([
      'OsdUpdateFrozen',
      [],
    ])
  })

  it('thaws when the very OSD that was late is back after all', () => {
    const frozen = { osd: 0, why: 'it did not come back', atMs: 1 }
    const decision = decideOsdUpdate(
      updateSnapshot({
        needing: [2, 3],
        record: { startedMs: 1, failed: [frozen], frozen },
        osds: { 0: { needsUpdate: false, startedMs: nowMs - 900_000 } },
      }),
    )
    expect([decision.reason, decision.start, decision.record.failed, decision.record.done]).toEqual([
      'OsdsUpdating',
      [2, 3],
      [],
      1,
    ])
  })

  it('stays frozen while another late OSD is out though the first is back: the bad change would take more of them', () => {
    const first = { osd: 0, why: 'it did not come back', atMs: 1 }
    const second = { ...first, osd: 1 }
    const decision = decideOsdUpdate(
      updateSnapshot({
        needing: [2, 3],
        record: { startedMs: 1, failed: [first, second], frozen: first },
        osds: { 0: { needsUpdate: false, startedMs: nowMs - 900_000 }, 1: away(900) },
      }),
    )
    expect([decision.reason, decision.start, decision.record.failed, decision.record.frozen]).toEqual([
      'OsdUpdateFrozen',
      [],
      [second],
      second,
    ])
  })

  it('counts what came back once, however often it is looked at, and knows when the round ended', () => {
    const given: UpdateFixture = {
      needing: [],
      record: { startedMs: 1 },
      osds: { 0: { startedMs: nowMs - 60_000 }, 1: { startedMs: nowMs - 50_000 } },
    }
    const first = decideOsdUpdate(updateSnapshot(given)).record
    const again = decideOsdUpdate(updateSnapshot({ ...given, record: first })).record
    expect([first.done, first.lastEndedMs, again]).toEqual([2, nowMs, first])
  })

  it('takes an OSD that fails long after its update for what it is: no part of the update any more', () => {
    const { ceph: _, ...seen } = updateSnapshot({
      needing: [],
      record: { startedMs: 1, settledMs: nowMs - 1_000 },
      osds: { 0: away(60) },
    })
    expect([needsCeph(seen), decideOsdUpdate({ ...seen, ceph: undefined }).reason]).toEqual([false, 'OsdsUpToDate'])
  })

  it('tells at the end which OSDs failed, in one place', () => {
    const failed = [
      { osd: 2, why: 'the API server refused it', atMs: 1 },
      { osd: 4, why: 'the API server refused it', atMs: 1 },
    ]
    const { reason, explanation } = decideOsdUpdate(updateSnapshot({ needing: [2, 4], record: { failed } }))
    expect([reason, explanation]).toEqual(['OsdUpdateFailed', 'osd.2: the API server refused it (and 1 more)'])
  })

  it('estimates what is left from how long those took that came back', () => {
    const { progress } = decideOsdUpdate(
      updateSnapshot({ needing: [2, 3, 4, 5], record: { startedMs: nowMs - 120_000, done: 2 } }),
    )
    expect(progress).toEqual({
      total: 6,
      done: 2,
      running: [2, 3],
      waiting: 2,
      blocked: 0,
      failed: 0,
      roundsLeft: 2,
      lowerBound: 2,
      secondsLeft: 240,
    })
  })
})
