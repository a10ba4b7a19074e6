import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { describe, expect, it } from 'vitest'
import { defaultAppLockPolicy as policy } from '../../../ledger/rules/app-lock.ts'
import { type AppLockRecord, markOf } from '../../../ledger/rules/app-lock-record.ts'
import { type AppLockMemory, type AppLockStep, decideAppLocks } from './decide-app-locks.ts'

const noon = Date.UTC(2026, 0, 1, 12)
const at = (hours: number) => noon + hours * 3_600_000
const time = (hours: number) => rfc3339(at(hours))
const minute = 1 / 60

/** A lock of ann from one hour to another; hours count from noon. */
const lock = (since: number, until: number, holder = 'ann') =>
  JSON.stringify({ holder, reason: 'rebalancing', since: time(since), until: time(until) })
const forEver = JSON.stringify({ holder: 'ann', reason: 'x', until: '2099-01-01T00:00:00Z' })

/** What stands on the budget `web` at an hour. */
interface Moment {
  readonly hour: number
  readonly lock?: string
  /** By the server's time; as the text came to stand there, unless it says otherwise. */
  readonly written?: number | 'unknown'
  readonly stamp?: string
  /** Another operator leads from now on. */
  readonly isNewLeader?: true
  /** It was deleted. */
  readonly isGone?: true
}

/** Sees one budget again and again, and says what was recorded and reported each time. */
function follow(moments: readonly Moment[]): string[] {
  let memory: Map<string, AppLockMemory> | undefined
  let records: readonly AppLockRecord[] = []
  let standing: { text: string | undefined; hour: number } = { text: undefined, hour: 0 }
  return moments.map((moment) => {
    const { hour, lock: text, stamp } = moment
    if (text !== standing.text) standing = { text, hour }
    const written = moment.written ?? standing.hour
    const annotations = {
      ...(text === undefined ? {} : { 'cofferdam.io/lock': text }),
      ...(stamp === undefined ? {} : { 'cofferdam.io/locked-since': stamp }),
    }
    const budget = {
      name: 'web',
      uid: 'w',
      annotations,
      ...(written === 'unknown' ? {} : { lockWrittenMs: at(written) }),
    }
    const budgets = moment.isGone === true ? [] : [budget]
    if (moment.isNewLeader === true) memory = undefined
    const { steps } = decideAppLocks({ nowMs: at(hour), policy, namespace: 'shop', budgets, records, memory })
    memory = remembered(steps)
    return steps
      .flatMap(({ record, hasStamp, changes }) => {
        if (record !== undefined) records = record.after === undefined ? [] : [record.after]
        const lines = record === undefined ? [] : [recordText(record.after)]
        return [
          ...lines,
          ...(hasStamp ? ['stamp removed'] : []),
          ...changes.map((each) => `${each.type} ${each.reason}`),
        ]
      })
      .join(', ')
  })
}

function remembered(steps: readonly AppLockStep[]): Map<string, AppLockMemory> {
  return new Map(
    steps.flatMap(({ uid, memory }) => (uid === undefined || memory === undefined ? [] : [[uid, memory] as const])),
  )
}

const clockText = (text: string) => new Date(parseRfc3339(text) ?? 0).toISOString().slice(11, 16)

function recordText(record: AppLockRecord | undefined): string {
  return record === undefined ? 'forgotten' : `since ${clockText(record.since)} until ${clockText(record.until)}`
}

const scenarios: Record<string, { given: readonly Moment[]; then: readonly string[] }> = {
  'a lock written by hand is recorded and reported once, and forgotten after a rest': {
    given: [
      { hour: -1 },
      { hour: 0, lock: lock(0, 1) },
      { hour: 0.5, lock: lock(0, 1) },
      { hour: 1, lock: lock(0, 1) },
      { hour: 1 + 9 * minute, lock: lock(0, 1) },
      { hour: 1 + 10 * minute, lock: lock(0, 1) },
      { hour: 3, lock: lock(0, 1) },
    ],
    then: ['', 'since 12:00 until 13:00, Normal AppLocked', '', 'Normal AppLockEnded', '', 'forgotten', ''],
  },
  'prolonged again and again by hand, it ends after twelve hours, and what stands there does not begin anew': {
    given: [
      { hour: 0, lock: lock(0, 4) },
      { hour: 3, lock: lock(3, 7) },
      { hour: 6, lock: lock(6, 10) },
      { hour: 9, lock: lock(9, 13) },
      { hour: 12, lock: lock(9, 13) },
      { hour: 12.5, lock: lock(9, 13) },
      { hour: 12.6, lock: lock(9, 13), written: 'unknown' },
    ],
    then: [
      'since 12:00 until 16:00, Normal AppLocked',
      'since 12:00 until 19:00',
      'since 12:00 until 22:00',
      'since 12:00 until 00:00, Warning AppLockCapped',
      'Normal AppLockEnded',
      '',
      '',
    ],
  },
  'an end far away is cut to four hours from when it was written, and locks at once': {
    given: [
      { hour: 0, lock: forEver },
      { hour: 4, lock: forEver },
      { hour: 30, lock: forEver },
    ],
    then: ['since 12:00 until 16:00, Normal AppLocked, Warning AppLockCapped', 'Normal AppLockEnded', ''],
  },
  'an owner who takes every trace of the writing away, or dates it ahead, gains nothing': {
    given: [
      { hour: 0, lock: forEver },
      { hour: 2, lock: forEver, written: 'unknown' },
      { hour: 3, lock: forEver, written: 99 },
      { hour: 4, lock: forEver, written: 4 },
    ],
    then: ['since 12:00 until 16:00, Normal AppLocked, Warning AppLockCapped', '', '', 'Normal AppLockEnded'],
  },
  'found hours after it was written, it counts from its writing and not from now': {
    given: [{ hour: 0, lock: forEver, written: -3 }],
    then: ['since 09:00 until 13:00, Normal AppLocked, Warning AppLockCapped'],
  },
  'unlocked and locked again within the rest, it is the same hold': {
    given: [{ hour: 0, lock: lock(0, 4) }, { hour: 3 }, { hour: 3 + 5 * minute, lock: lock(3, 7) }],
    then: [
      'since 12:00 until 16:00, Normal AppLocked',
      'since 12:00 until 15:00, Normal AppLockEnded',
      'since 12:00 until 19:00, Normal AppLocked',
    ],
  },
  'deleted and created again with the lock on it, it is the same hold': {
    given: [
      { hour: 0, lock: lock(0, 4) },
      { hour: 3, isGone: true },
      { hour: 3 + 5 * minute, lock: lock(3, 7), isNewLeader: true },
    ],
    then: [
      'since 12:00 until 16:00, Normal AppLocked',
      'since 12:00 until 15:00',
      'since 12:00 until 19:00, Normal AppLocked',
    ],
  },
  'a deleted budget is forgotten after a rest': {
    given: [
      { hour: 0, lock: lock(0, 4) },
      { hour: 3, isGone: true },
      { hour: 3 + 10 * minute, isGone: true },
    ],
    then: ['since 12:00 until 16:00, Normal AppLocked', 'since 12:00 until 15:00', 'forgotten'],
  },
  'unlocked and locked again after a rest, it begins anew': {
    given: [{ hour: 0, lock: lock(0, 4) }, { hour: 3 }, { hour: 3 + 11 * minute }, { hour: 4, lock: lock(4, 5) }],
    then: [
      'since 12:00 until 16:00, Normal AppLocked',
      'since 12:00 until 15:00, Normal AppLockEnded',
      'forgotten',
      'since 16:00 until 17:00, Normal AppLocked',
    ],
  },
  'another lock in place of one that twelve hours ended begins anew after a rest, and not before': {
    given: [
      { hour: 0, lock: lock(0, 4) },
      { hour: 4, lock: lock(4, 8) },
      { hour: 8, lock: lock(8, 12) },
      { hour: 12, lock: lock(8, 12) },
      { hour: 12 + 2 * minute, lock: lock(12, 15) },
      { hour: 12 + 10 * minute, lock: lock(12, 15) },
    ],
    then: [
      'since 12:00 until 16:00, Normal AppLocked',
      'since 12:00 until 20:00',
      'since 12:00 until 00:00',
      'Normal AppLockEnded',
      'Warning AppLockCapped',
      'since 00:00 until 03:00, Normal AppLocked',
    ],
  },
  'a lock that another leader has recorded is not reported again': {
    given: [
      { hour: 0, lock: forEver },
      { hour: 1, lock: forEver, isNewLeader: true },
    ],
    then: ['since 12:00 until 16:00, Normal AppLocked, Warning AppLockCapped', ''],
  },
  'removed and put back while no operator led, it is the same hold when the next one takes over': {
    given: [
      { hour: 0, lock: lock(0, 4) },
      { hour: 3 },
      { hour: 3.5, lock: lock(3, 7), written: 3 + minute, isNewLeader: true },
    ],
    then: [
      'since 12:00 until 16:00, Normal AppLocked',
      'since 12:00 until 15:00, Normal AppLockEnded',
      'since 12:00 until 19:00, Normal AppLocked',
    ],
  },
  'an end that no operator saw is an end: the next lock after a rest begins anew': {
    given: [
      { hour: 0, lock: lock(0, 1) },
      { hour: 30, lock: lock(30, 32), isNewLeader: true },
    ],
    then: ['since 12:00 until 13:00, Normal AppLocked', 'since 18:00 until 20:00, Normal AppLocked'],
  },
  'taken over by somebody else, the hold goes on and the new holder is reported': {
    given: [
      { hour: 0, lock: lock(0, 2) },
      { hour: 1, lock: lock(1, 3, 'bob') },
    ],
    then: ['since 12:00 until 14:00, Normal AppLocked', 'since 12:00 until 15:00, Normal AppLocked'],
  },
  'what makes no sense is reported once for each text, and never recorded': {
    given: [
      { hour: 0, lock: 'for ever' },
      { hour: 1, lock: 'for ever' },
      { hour: 1, lock: '{}' },
      { hour: 2 },
      { hour: 3, lock: '{}' },
    ],
    then: ['Warning AppLockUnreadable', '', 'Warning AppLockUnreadable', '', 'Warning AppLockUnreadable'],
  },
  'what had expired when it was found is reported': {
    given: [{ hour: 0, lock: lock(-3, -2) }],
    then: ['Warning AppLockExpired'],
  },
  'what an earlier version wrote on the budget is taken over into the ledger, and removed': {
    given: [
      { hour: 0, lock: lock(-1, 2), stamp: time(-11) },
      { hour: 0.5, lock: lock(-1, 2) },
    ],
    then: ['since 01:00 until 13:00, stamp removed, Normal AppLocked, Warning AppLockCapped', ''],
  },
  'taken over just after twelve hours, a lock of an earlier version has its rest first': {
    given: [
      { hour: 0, lock: lock(0, 2), stamp: time(-12) },
      { hour: 5 * minute, lock: lock(0, 2) },
      { hour: 10 * minute, lock: lock(0, 2) },
    ],
    then: [
      'since 00:00 until 12:00, stamp removed, Warning AppLockCapped',
      '',
      'since 12:00 until 14:00, Normal AppLocked',
    ],
  },
  'what an earlier version wrote where nothing is locked is removed, whatever it says': {
    given: [{ hour: 0, stamp: 'yesterday' }, { hour: 1, stamp: time(-30) }, { hour: 2 }],
    then: ['stamp removed', 'stamp removed', ''],
  },
}

describe('the keeper of owners’ locks', () => {
  it.each(Object.entries(scenarios))('%s', (_, { given, then }) => expect(follow(given)).toEqual(then))

  it('over quota a lock is reported and not recorded, and judged again when the first of the others ends', () => {
    const budgets = ['a', 'b', 'c'].map((name, index) => ({
      name,
      uid: name,
      annotations: { 'cofferdam.io/lock': lock(0, 2 + index) },
    }))
    const few = { ...policy, maxPerNamespace: 2 }
    const seen = { nowMs: noon, policy: few, namespace: 'shop', budgets, records: [], memory: undefined }
    const wordsOf = ({ name, record, changes }: AppLockStep) => [
      name,
      record?.after?.since,
      changes.map(({ reason }) => reason),
    ]
    const { steps, recheckAfterMs } = decideAppLocks(seen)
    expect(steps.map(wordsOf)).toEqual([
      ['a', time(0), ['AppLocked']],
      ['b', time(0), ['AppLocked']],
      ['c', undefined, ['AppLockOverQuota']],
    ])
    expect(recheckAfterMs).toBe(2 * 3_600_000)
    const records = steps.flatMap(({ record }) => record?.after ?? [])
    const later = decideAppLocks({ ...seen, nowMs: at(2), records, memory: remembered(steps) })
    expect(later.steps.map(wordsOf)).toEqual([
      ['a', undefined, ['AppLockEnded']],
      ['b', undefined, []],
      ['c', time(0), ['AppLocked']],
    ])
  })

  it('says in the Event who locked it, until when and why, and how it ended', () => {
    const seeAt = (nowMs: number, text: string | undefined, memory?: ReadonlyMap<string, AppLockMemory>) => {
      const annotations: Record<string, string> = text === undefined ? {} : { 'cofferdam.io/lock': text }
      const budgets = [{ name: 'web', uid: 'w', annotations }]
      return decideAppLocks({ nowMs, policy, namespace: 'shop', budgets, records: [], memory }).steps[0]
    }
    const first = seeAt(noon, lock(0, 9))
    expect(first?.record?.after?.text).toBe(markOf(lock(0, 9)))
    expect(first?.changes.map(({ note }) => note)).toEqual([
      'ann has locked it until 2026-01-01T16:00:00Z: rebalancing',
      'Annotation cofferdam.io/lock of web ends at 2026-01-01T16:00:00Z, because policy allows 4 h at a time and 12 h on end',
    ])
    const memory = new Map([['w', first?.memory as AppLockMemory]])
    expect(seeAt(at(1), undefined, memory)?.changes.map(({ note }) => note)).toEqual([
      'The lock of ann (rebalancing) has ended: it was removed',
    ])
  })

  it('nothing of a lock, nothing to do', () => {
    const budgets = [{ name: 'web', uid: 'w', annotations: {} }]
    const seen = { nowMs: noon, policy, namespace: 'shop', budgets, records: [], memory: undefined }
    expect(decideAppLocks(seen)).toEqual({ steps: [], recheckAfterMs: undefined })
  })
})
