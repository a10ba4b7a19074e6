import { describe, expect, it } from 'vitest'
import { updateStatusLines } from './status-text.ts'
import { isUpdateNotable, type UpdateSummary } from './summarize-update.ts'

const now = '2026-01-01T12:00:00Z'
const progress = {
  total: 12,
  done: 4,
  running: [4, 5],
  waiting: 6,
  blocked: 0,
  failed: 0,
  roundsLeft: 4,
  lowerBound: 3,
}
const idle = { ...progress, running: [], waiting: 0, roundsLeft: 0, lowerBound: 0 }
const updating: UpdateSummary = {
  cluster: 'rook-ceph/ceph',
  mode: 'own',
  reason: 'OsdsUpdating',
  explanation: '2 OSDs start now, 0 are on the way, 6 wait',
  progress,
  secondsLeft: 720,
  startedAt: '2026-01-01T11:54:00Z',
  updated: 4,
  osds: 12,
  outdated: 6,
  blocked: [],
  failed: [],
  isAttended: true,
}
const { secondsLeft: _, ...held } = updating
const late = {
  osd: 4,
  why: 'it was not back 600 s after its update began: its pod is not ready',
  since: '2026-01-01T11:50:00Z',
  wayOut: 'see what is wrong',
}
const calm: UpdateSummary = {
  ...held,
  reason: 'OsdsUpToDate',
  explanation: 'no OSD needs an update',
  progress: { ...idle, done: 12 },
  outdated: 0,
}
const noGrowth = { awaited: [], failed: [], unusable: [], adding: [] }

const scenarios: Record<string, readonly [UpdateSummary, readonly string[]]> = {
  'an update on its way tells how far it is, who is out and what is left': [
    updating,
    [
      'rook-ceph/ceph: OsdsUpdating for 6m: 4 of 12 OSDs done, about 12m left',
      'restarting: osd 4, 5',
      '6 wait; about 4 rounds left, 3 at least',
    ],
  ],
  'checks that are overridden are said before all else, and which placement groups pay for it': [
    {
      ...updating,
      checksOff: { setting: 'skipUpgradeChecks', meaning: 'OSDs are updated one at a time, without checks' },
      overridden: { osd: 4, why: 'skipUpgradeChecks: 1.0 of pool rbd keeps 1 of 2 copies', since: now, count: 3 },
    },
    [
      'rook-ceph/ceph: OsdsUpdating for 6m: 4 of 12 OSDs done, about 12m left',
      'checks overridden: skipUpgradeChecks is set: OSDs are updated one at a time, without checks',
      'checks overridden: osd.4, 0s ago, by skipUpgradeChecks: 1.0 of pool rbd keeps 1 of 2 copies',
      'restarting: osd 4, 5',
      '6 wait; about 4 rounds left, 3 at least',
    ],
  ],
  'before the first is back nobody can say how long it takes': [
    { ...held, progress: { ...progress, done: 0, lowerBound: 4 } },
    ['rook-ceph/ceph: OsdsUpdating for 6m: 0 of 12 OSDs done', 'restarting: osd 4, 5', '6 wait; about 4 rounds left'],
  ],
  'without an operator what is on record may be old': [
    { ...updating, isAttended: false, progress: { ...progress, running: [] } },
    [
      'rook-ceph/ceph: OsdsUpdating for 6m: 4 of 12 OSDs done, about 12m left',
      'this may be old: no operator is running',
      '6 wait; about 4 rounds left, 3 at least',
    ],
  ],
  'an update that a drain keeps waiting names the drain, and promises no end': [
    {
      ...updating,
      reason: 'StorageKeyHeld',
      explanation: 'nodedisruption/r1 holds zone-a of storage/rook-ceph/ceph and is first in the queue',
      progress: { ...progress, running: [], blocked: 2 },
      blocked: [
        { osd: 8, why: 'pg 1.a is short' },
        { osd: 9, why: 'pg 1.a is short' },
      ],
    },
    [
      'rook-ceph/ceph: StorageKeyHeld: nodedisruption/r1 holds zone-a of storage/rook-ceph/ceph and is first in the queue',
      '4 of 12 OSDs done',
      '6 wait; about 4 rounds left, 3 at least',
      'blocked: 2',
    ],
  ],
  'a frozen update says since when, by whom and what to do': [
    {
      ...held,
      reason: 'OsdUpdateFrozen',
      explanation: 'osd.4 froze the update: it was not back',
      progress: { ...progress, running: [], failed: 1 },
      failed: [late, { ...late, osd: 5 }],
      frozen: late,
    },
    [
      'rook-ceph/ceph: OsdUpdateFrozen for 10m: osd.4 froze the update: it was not back',
      '4 of 12 OSDs done',
      '6 wait; about 4 rounds left, 3 at least',
      'what to do: see what is wrong',
      'failed: osd.5, 10m ago: it was not back 600 s after its update began: its pod is not ready',
      'what to do: see what is wrong',
    ],
  ],
  'what is blocked is told by its first few, each with why': [
    {
      ...held,
      reason: 'OsdUpdateBlocked',
      explanation: '60 OSDs to update, none can stop now',
      progress: { ...idle, total: 64, blocked: 60 },
      blocked: Array.from({ length: 50 }, (_none, osd) => ({ osd, why: 'pg 1.a is short' })),
    },
    [
      'rook-ceph/ceph: OsdUpdateBlocked: 60 OSDs to update, none can stop now',
      '4 of 64 OSDs done',
      'blocked: osd.0: pg 1.a is short',
      'blocked: osd.1: pg 1.a is short',
      'blocked: osd.2: pg 1.a is short',
      '… and 57 more; -o json shows 50 of them',
    ],
  ],
  'a record that cannot be read says so': [
    {
      cluster: 'rook-ceph/ceph',
      mode: 'own',
      reason: 'UpdateRecordUnreadable',
      explanation: 'ConfigMap cofferdam-osd-update-ceph cannot be read: its key record is no JSON',
      updated: 0,
      blocked: [],
      failed: [],
    },
    [
      'rook-ceph/ceph: UpdateRecordUnreadable: ConfigMap cofferdam-osd-update-ceph cannot be read: its key record is no JSON',
    ],
  ],
  'restarts beside Rook are called what they are': [
    { ...updating, mode: 'plan', progress: { ...progress, running: [1, 2, 3, 7], waiting: 0 } },
    [
      'rook-ceph/ceph (beside Rook: restarts only on request): OsdsUpdating for 6m: 4 of 12 OSDs done, about 12m left',
      'restarting: osd 1-3, 7',
    ],
  ],
  'a change that nobody has looked at yet is told before anything is on record': [
    {
      cluster: 'rook-ceph/ceph',
      mode: 'own',
      explanation: '',
      updated: 0,
      osds: 12,
      outdated: 12,
      blocked: [],
      failed: [],
    },
    ['rook-ceph/ceph: 12 OSDs need an update; the update has not started yet'],
  ],
  'and without an operator that is why': [
    {
      cluster: 'rook-ceph/ceph',
      mode: 'own',
      explanation: '',
      updated: 0,
      osds: 12,
      outdated: 1,
      blocked: [],
      failed: [],
      isAttended: false,
    },
    ['rook-ceph/ceph: 1 OSD needs an update, and no operator is running'],
  ],
  'an update that ended lately tells how long it took': [
    { ...calm, updated: 12, endedAt: '2026-01-01T11:58:00Z' },
    ['rook-ceph/ceph: all 12 OSDs up to date; 12 were updated in 4m, 2m ago'],
  ],
  'OSDs that are left alone are told with why': [
    {
      ...calm,
      explanation: 'no OSD needs an update but 1 OSD left alone',
      progress: { ...idle, done: 11, blocked: 1 },
      blocked: [{ osd: 7, why: 'it is being replaced' }],
    },
    ['rook-ceph/ceph: no OSD needs an update but 1 OSD left alone', 'blocked: osd.7: it is being replaced'],
  ],
  'growth is told beside the update: places, OSDs, and what went wrong where': [
    {
      ...calm,
      growth: {
        awaited: ['node-a', 'node-b'],
        adding: [12, 13, 14],
        failed: [{ place: 'node-c', why: 'no disk is free' }],
        unusable: [{ place: 'node-d', why: 'the node is cordoned' }],
      },
    },
    [
      'rook-ceph/ceph: all 12 OSDs up to date',
      'searching for new disks on node-a, node-b',
      'being added: osd 12-14',
      'no OSDs from node-c: no disk is free',
      'not searched: node-d: the node is cordoned',
    ],
  ],
}

describe('the update of OSDs in status', () => {
  it.each(Object.entries(scenarios))('%s', (_name, [summary, lines]) => {
    expect(updateStatusLines(summary, now, (_style, text) => text)).toEqual(lines)
    expect(isUpdateNotable(summary, Date.parse(now))).toBe(true)
  })

  it.each<[string, UpdateSummary]>([
    ['every OSD is as it should be', calm],
    ['nothing grows', { ...calm, growth: noGrowth }],
    ['the last update ended long ago', { ...calm, updated: 12, endedAt: '2026-01-01T10:00:00Z' }],
    ['updates are off, whatever would be different', { ...calm, mode: 'off', reason: 'OsdUpdateOff', outdated: 3 }],
  ])('is no news when %s', (_name, summary) => {
    expect(isUpdateNotable(summary, Date.parse(now))).toBe(false)
  })
})
