import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { minutes, nowMs } from '../../capabilities/drain-lock/domain/testing/fixture.ts'
import {
  type AppLockContext,
  judgeAppLocks,
  type ParsedAppLock,
  parseAppLock,
  defaultAppLockPolicy as policy,
} from './app-lock.ts'

const hours = (count: number) => minutes(60 * count)
const context: AppLockContext = { nowMs, budgetName: 'shop/web', policy }
const said = 'annotation cofferdam.io/lock of shop/web'
const lock = (untilMs: number) => ({ holder: 'bob', reason: 'rebalance', untilMs })
const owner = { holder: 'bob', reason: 'rebalance' }
const limits = 'because policy allows 4 h at a time and 12 h on end'

const cases: Record<string, { given: object | string | undefined; heldSinceMs?: number; then: ParsedAppLock }> = {
  'no annotation, no lock': { given: undefined, then: {} },
  'until a time': {
    given: { ...owner, until: '2026-01-01T14:00:00Z' },
    then: { lock: lock(nowMs + hours(2)) },
  },
  'for a while since a time': {
    given: { ...owner, for: '2h', since: '2026-01-01T11:00:00Z' },
    then: { lock: lock(nowMs + hours(1)) },
  },
  'for a while, without saying since when, is no lock': {
    given: { ...owner, for: '2h' },
    then: { problem: `${said} says "for" without "since"; it does not lock`, fault: 'unreadable' },
  },
  'without an end it is no lock': {
    given: owner,
    then: { problem: `${said} says neither "until" when nor "for" how long; it does not lock`, fault: 'unreadable' },
  },
  'with two ends it is no lock': {
    given: { ...owner, until: '2026-01-01T14:00:00Z', for: '1h', since: '2026-01-01T11:00:00Z' },
    then: { problem: `${said} says both "until" and "for"; it does not lock`, fault: 'unreadable' },
  },
  'expired, it does not lock and is reported': {
    given: { ...owner, until: '2026-01-01T12:00:00Z' },
    then: { problem: `${said} expired at 2026-01-01T12:00:00Z; it does not lock`, fault: 'expired' },
  },
  'longer than allowed at a time, it is cut': {
    given: { ...owner, since: '2026-01-01T11:00:00Z', for: '9h' },
    then: { lock: lock(nowMs + hours(3)), problem: `${said} ends at 2026-01-01T15:00:00Z, ${limits}`, fault: 'capped' },
  },
  'dated ahead it gains nothing': {
    given: { ...owner, since: '2026-01-01T18:00:00Z', until: '2026-01-01T20:00:00Z' },
    then: { lock: lock(nowMs + hours(4)), problem: `${said} ends at 2026-01-01T16:00:00Z, ${limits}`, fault: 'capped' },
  },
  'prolonged again and again, it ends after the longest time on end': {
    given: { ...owner, since: '2026-01-01T12:00:00Z', for: '4h' },
    heldSinceMs: nowMs - hours(10),
    then: { lock: lock(nowMs + hours(2)), problem: `${said} ends at 2026-01-01T14:00:00Z, ${limits}`, fault: 'capped' },
  },
  'prolonged beyond the longest time on end, it does not lock': {
    given: { ...owner, since: '2026-01-01T12:00:00Z', for: '4h' },
    heldSinceMs: nowMs - hours(12),
    then: { problem: `${said} has ended at 2026-01-01T12:00:00Z, ${limits}`, fault: 'capped' },
  },
  'for ever, with nobody to say since when, it does not lock': {
    given: { ...owner, until: '2099-01-01T00:00:00Z' },
    then: { problem: `${said} ends more than 4 h from now; it does not lock until then`, fault: 'capped' },
  },
  'held since a time to come gains nothing': {
    given: { ...owner, since: '2026-01-01T02:00:00Z', until: '2099-01-01T00:00:00Z' },
    heldSinceMs: nowMs + hours(9),
    then: { problem: `${said} has ended at 2026-01-01T06:00:00Z, ${limits}`, fault: 'capped' },
  },
  'for ever, held since a while, it is cut': {
    given: { ...owner, until: '2099-01-01T00:00:00Z' },
    heldSinceMs: nowMs - hours(9),
    then: { lock: lock(nowMs + hours(3)), problem: `${said} ends at 2026-01-01T15:00:00Z, ${limits}`, fault: 'capped' },
  },
  'nobody named, it locks and is reported': {
    given: { until: '2026-01-01T14:00:00Z', holder: 7, reason: ' ' },
    then: {
      lock: { holder: 'the owner of the budget', reason: 'no reason given', untilMs: nowMs + hours(2) },
      problem: `${said} names no holder; names no reason`,
      fault: 'incomplete',
    },
  },
  'no JSON': {
    given: 'true until tomorrow',
    then: { problem: `${said} is not JSON; it does not lock`, fault: 'unreadable' },
  },
  'no JSON object': {
    given: '"2h"',
    then: { problem: `${said} is no JSON object; it does not lock`, fault: 'unreadable' },
  },
  'no time': {
    given: { ...owner, until: 'tomorrow' },
    then: { problem: `${said} "until" is no time such as 2026-01-31T12:00:00Z; it does not lock`, fault: 'unreadable' },
  },
  'no duration': {
    given: { ...owner, since: '2026-01-01T12:00:00Z', for: 'long' },
    then: { problem: `${said} "for" is no duration such as "2h" or "90m"; it does not lock`, fault: 'unreadable' },
  },
  'a whole book': {
    given: { ...owner, until: '2026-01-01T14:00:00Z', notes: 'x'.repeat(5000) },
    then: { problem: `${said} has more than 4096 characters; it does not lock`, fault: 'unreadable' },
  },
}

describe('the lock of an owner', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, heldSinceMs, then }) => {
    const text = given === undefined || typeof given === 'string' ? given : JSON.stringify(given)
    expect(parseAppLock(text, heldSinceMs === undefined ? context : { ...context, heldSinceMs })).toEqual(then)
  })

  it('whatever the text says, nothing is thrown and no lock lasts longer than policy allows', () => {
    const times = fc.constantFrom('2026-01-01T14:00:00Z', '2099-01-01T00:00:00Z', '1970-01-01T00:00:00Z', 'x', 5, null)
    const told = fc
      .record(
        { until: times, since: times, for: fc.constantFrom('2h', '999999h', '', '-1h', 3), holder: fc.string() },
        { requiredKeys: [] },
      )
      .map((fields) => JSON.stringify(fields))
    const anyText = fc.oneof(fc.string(), fc.json(), told)
    fc.assert(
      fc.property(anyText, fc.option(fc.nat(hours(20)), { nil: undefined }), (text, heldForMs) => {
        const heldSinceMs = heldForMs === undefined ? undefined : nowMs - heldForMs
        const parsed = parseAppLock(text, heldSinceMs === undefined ? context : { ...context, heldSinceMs })
        if (parsed.lock === undefined) return
        expect(parsed.lock.untilMs).toBeGreaterThan(nowMs)
        expect(parsed.lock.untilMs).toBeLessThanOrEqual(nowMs + policy.maxTtlMs)
        expect(parsed.lock.untilMs).toBeLessThanOrEqual((heldSinceMs ?? nowMs) + policy.maxHoldMs)
      }),
    )
  })

  it('the same text, looked at again and again by somebody who remembers when it came, ends', () => {
    const text = JSON.stringify({ ...owner, until: '2099-01-01T00:00:00Z' })
    const later = { ...context, nowMs: nowMs + hours(12), heldSinceMs: nowMs }
    expect(parseAppLock(text, later).lock).toBeUndefined()
  })
})

describe('the locks of one namespace', () => {
  const text = JSON.stringify({ ...owner, until: '2026-01-01T13:00:00Z' })

  it('those held longest count, and what is over quota locks nothing and is reported', () => {
    const budgets = ['e', 'd', 'c', 'b', 'a', 'late', 'latest'].map((name, index) => ({
      name,
      text,
      heldSinceMs: nowMs - 1000 + (name.startsWith('late') ? index : 0),
    }))
    const judged = judgeAppLocks([...budgets, { name: 'free', text: undefined }], policy, nowMs)
    const locking = [...judged].filter(([, result]) => result.lock !== undefined).map(([name]) => name)
    expect(locking).toEqual(['e', 'd', 'c', 'b', 'a'])
    expect(judged.get('latest')).toEqual({
      problem:
        'annotation cofferdam.io/lock of latest is one more than the 5 locks that its namespace may have at a time; it does not lock',
      fault: 'over-quota',
    })
    expect(judged.get('free')).toEqual({})
  })

  it('a bad annotation takes no place of a good one', () => {
    const bad = ['1', '2', '3', '4', '5'].map((name) => ({ name, text: 'x', heldSinceMs: 0 }))
    expect(judgeAppLocks([...bad, { name: 'good', text }], policy, nowMs).get('good')?.lock).toEqual(
      lock(nowMs + hours(1)),
    )
  })
})
