import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { describe, expect, it } from 'vitest'
import { defaultAppLockPolicy as policy } from '../../../ledger/rules/app-lock.ts'
import { type AppLockMemory, appLockRestMs, decideAppLocks } from './decide-app-locks.ts'

const noon = Date.UTC(2026, 0, 1, 12)
const at = (hours: number) => noon + hours * 3_600_000
const time = (hours: number) => rfc3339(at(hours))
const minute = 1 / 60

/** A lock of ann from one hour to another; hours count from noon. */
const lock = (since: number, until: number, holder = 'ann') =>
  JSON.stringify({ holder, reason: 'rebalancing', since: time(since), until: time(until) })

/** What stands on the budget `web` at an hour; without a stamp, what the keeper left there, and '' is none. */
interface Moment {
  readonly hour: number
  readonly lock?: string
  readonly stamp?: string
}

/** Looks at one budget again and again, and tells what was written and told each time. */
function follow(moments: readonly Moment[]): string[] {
  let memory: Map<string, AppLockMemory> | undefined
  let written: string | undefined
  return moments.flatMap(({ hour, lock: text, stamp }) => {
    const standing = stamp === undefined ? written : stamp === '' ? undefined : stamp
    const annotations = {
      ...(text === undefined ? {} : { 'cofferdam.io/lock': text }),
      ...(standing === undefined ? {} : { 'cofferdam.io/locked-since': standing }),
    }
    const budgets = [{ name: 'web', uid: 'w', annotations }]
    const { steps } = decideAppLocks({ nowMs: at(hour), policy, restMs: appLockRestMs, budgets, memory })
    written = standing
    memory = new Map()
    const lines: string[] = []
    for (const step of steps) {
      if (step.memory !== undefined) memory.set('w', step.memory)
      if (step.stamp !== undefined) {
        written = step.stamp ?? undefined
        lines.push(step.stamp === null ? 'stamp removed' : `stamp ${step.stamp.slice(11, 16)}`)
      }
      lines.push(...step.changes.map(({ type, reason }) => `${type} ${reason}`))
    }
    return [lines.join(', ')]
  })
}

const scenarios: Record<string, { given: readonly Moment[]; then: readonly string[] }> = {
  'a lock written by hand is stamped, told once, and its stamp goes after a rest': {
    given: [
      { hour: -1 },
      { hour: 0, lock: lock(0, 1) },
      { hour: 0.5, lock: lock(0, 1) },
      { hour: 1, lock: lock(0, 1) },
      { hour: 1 + 9 * minute, lock: lock(0, 1) },
      { hour: 1 + 10 * minute, lock: lock(0, 1) },
      { hour: 3, lock: lock(0, 1) },
    ],
    then: ['', 'stamp 12:00, Normal AppLocked', '', 'Normal AppLockEnded', '', 'stamp removed', ''],
  },
  'prolonged again and again by hand, it ends after twelve hours, and what stands there does not begin anew': {
    given: [
      { hour: 0, lock: lock(0, 4) },
      { hour: 3, lock: lock(3, 7) },
      { hour: 6, lock: lock(6, 10) },
      { hour: 9, lock: lock(9, 13) },
      { hour: 12, lock: lock(9, 13) },
      { hour: 12.5, lock: lock(9, 13) },
      { hour: 12.6, lock: lock(9, 13), stamp: '' },
    ],
    then: ['stamp 12:00, Normal AppLocked', '', '', 'Warning AppLockCapped', 'Normal AppLockEnded', '', 'stamp 12:00'],
  },
  'a stamp taken away, dated ahead or spoilt by hand is put back as it was': {
    given: [
      { hour: 0, lock: lock(0, 4) },
      { hour: 1, lock: lock(0, 4), stamp: '' },
      { hour: 2, lock: lock(0, 4), stamp: '2099-01-01T00:00:00Z' },
      { hour: 3, lock: lock(0, 4), stamp: 'yesterday' },
      { hour: 3, lock: lock(0, 4), stamp: time(2) },
    ],
    then: ['stamp 12:00, Normal AppLocked', 'stamp 12:00', 'stamp 12:00', 'stamp 12:00', 'stamp 12:00'],
  },
  'unlocked and locked again within the rest, it is the same hold': {
    given: [
      { hour: 0, lock: lock(0, 4) },
      { hour: 3, stamp: '' },
      { hour: 3 + 5 * minute, lock: lock(3, 7), stamp: time(3) },
    ],
    then: ['stamp 12:00, Normal AppLocked', 'Normal AppLockEnded', 'stamp 12:00, Normal AppLocked'],
  },
  'unlocked and locked again after a rest, it begins anew': {
    given: [{ hour: 0, lock: lock(0, 4) }, { hour: 3 }, { hour: 3 + 11 * minute }, { hour: 4, lock: lock(4, 5) }],
    then: ['stamp 12:00, Normal AppLocked', 'Normal AppLockEnded', 'stamp removed', 'stamp 16:00, Normal AppLocked'],
  },
  'another lock in place of one that twelve hours ended begins anew after a rest, and not before': {
    given: [
      { hour: 0, lock: lock(0, 4), stamp: time(-11) },
      { hour: 1, lock: lock(0, 4) },
      { hour: 1 + 2 * minute, lock: lock(1, 3) },
      { hour: 1 + 11 * minute, lock: lock(1, 3) },
    ],
    then: ['Warning AppLockCapped', 'Normal AppLockEnded', 'Warning AppLockCapped', 'stamp 13:11, Normal AppLocked'],
  },
  'a lock that another leader has stamped is not told again': {
    given: [{ hour: 0, lock: lock(-1, 2), stamp: time(-1) }],
    then: [''],
  },
  'taken over by somebody else, the hold goes on and the new holder is told': {
    given: [
      { hour: 0, lock: lock(0, 2) },
      { hour: 1, lock: lock(1, 3, 'bob') },
    ],
    then: ['stamp 12:00, Normal AppLocked', 'Normal AppLocked'],
  },
  'what makes no sense is told once for each text, and never stamped': {
    given: [
      { hour: 0, lock: 'for ever' },
      { hour: 1, lock: 'for ever' },
      { hour: 1, lock: '{}' },
      { hour: 2 },
      { hour: 3, lock: '{}' },
    ],
    then: ['Warning AppLockUnreadable', '', 'Warning AppLockUnreadable', '', 'Warning AppLockUnreadable'],
  },
  'what had expired when it was found is told, and a stamp beside it goes after a rest': {
    given: [
      { hour: 0, lock: lock(-3, -2), stamp: time(-3) },
      { hour: 0.5, lock: lock(-3, -2) },
    ],
    then: ['Warning AppLockExpired', 'stamp removed'],
  },
  'an end too far away does not lock and is not stamped, until it has come near enough': {
    given: [
      { hour: 0, lock: JSON.stringify({ holder: 'ann', reason: 'x', until: time(5) }) },
      { hour: 1, lock: JSON.stringify({ holder: 'ann', reason: 'x', until: time(5) }) },
    ],
    then: ['Warning AppLockCapped', 'stamp 13:00, Normal AppLocked'],
  },
  'a stamp that makes no sense is taken away where nothing is locked': {
    given: [{ hour: 0, stamp: 'yesterday' }, { hour: 1 }],
    then: ['stamp removed', ''],
  },
  'a stamp that nobody needs is taken away after a rest': {
    given: [{ hour: 0, stamp: time(-1) }, { hour: 5 * minute }, { hour: 10 * minute }, { hour: 1 }],
    then: ['', '', 'stamp removed', ''],
  },
}

describe('the keeper of owners’ locks', () => {
  it.each(Object.entries(scenarios))('%s', (_, { given, then }) => expect(follow(given)).toEqual(then))

  it('over quota a lock is told and not stamped, and looked at again when the first of the others ends', () => {
    const budgets = ['a', 'b', 'c'].map((name, index) => ({
      name,
      uid: name,
      annotations: { 'cofferdam.io/lock': lock(0, 2 + index) },
    }))
    const few = { ...policy, maxPerNamespace: 2 }
    const seen = { nowMs: noon, policy: few, restMs: appLockRestMs, budgets, memory: undefined }
    const { steps, recheckAfterMs } = decideAppLocks(seen)
    expect(steps.map(({ name, stamp, changes }) => [name, stamp, changes.map(({ reason }) => reason)])).toEqual([
      ['a', time(0), ['AppLocked']],
      ['b', time(0), ['AppLocked']],
      ['c', undefined, ['AppLockOverQuota']],
    ])
    expect(recheckAfterMs).toBe(2 * 3_600_000)
    const memory = new Map(steps.flatMap((step) => (step.memory === undefined ? [] : [[step.uid, step.memory]])))
    const later = decideAppLocks({ ...seen, nowMs: at(2), memory })
    expect(later.steps.map(({ name, stamp, changes }) => [name, stamp, changes.map(({ reason }) => reason)])).toEqual([
      ['a', undefined, ['AppLockEnded']],
      ['b', time(0), []],
      ['c', time(2), ['AppLocked']],
    ])
  })

  it('says in the Event who locked it, until when and why, and how it ended', () => {
    const look = (nowMs: number, text: string | undefined, memory?: ReadonlyMap<string, AppLockMemory>) => {
      const annotations: Record<string, string> = text === undefined ? {} : { 'cofferdam.io/lock': text }
      const budgets = [{ name: 'web', uid: 'w', annotations }]
      return decideAppLocks({ nowMs, policy, restMs: appLockRestMs, budgets, memory }).steps[0]
    }
    const first = look(noon, lock(0, 9))
    expect(first?.changes.map(({ note }) => note)).toEqual([
      'ann has locked it until 2026-01-01T16:00:00Z: rebalancing',
      'Annotation cofferdam.io/lock of web ends at 2026-01-01T16:00:00Z, because policy allows 4 h at a time and 12 h on end',
    ])
    const memory = new Map([['w', first?.memory as AppLockMemory]])
    expect(look(at(1), undefined, memory)?.changes.map(({ note }) => note)).toEqual([
      'The lock of ann (rebalancing) has ended: it was removed',
    ])
  })

  it('nothing of a lock, nothing to do', () => {
    const budgets = [{ name: 'web', uid: 'w', annotations: {} }]
    expect(decideAppLocks({ nowMs: noon, policy, restMs: 1, budgets, memory: undefined })).toEqual({
      steps: [],
      recheckAfterMs: undefined,
    })
  })
})
