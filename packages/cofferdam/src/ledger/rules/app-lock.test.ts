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
import { type AppLockRecord, buildAppLockRecord, changeAppLocks, namespacesOfChangedLocks } from './app-lock-record.ts'

const hours = (count: number) => minutes(60 * count)
const context: AppLockContext = { nowMs, budgetName: 'shop/web', policy }
const said = 'annotation cofferdam.io/lock of shop/web'
/** What the ledger says of the budget: locked since, by a text of its own, until. Hours count from now. */
const record = (since: number, until: number, text: object = { other: true }, written = since): AppLockRecord =>
  buildAppLockRecord('shop/web', {
    text: JSON.stringify(text),
    sinceMs: nowMs + hours(since),
    writtenMs: nowMs + hours(written),
    untilMs: nowMs + hours(until),
  })
/** Locked until, written and held since, in hours from now. */
const lock = (until: number, written = 0, since = written) => ({
  holder: 'bob',
  reason: 'rebalance',
  sinceMs: nowMs + hours(since),
  writtenMs: nowMs + hours(written),
  untilMs: nowMs + hours(until),
})
const owner = { holder: 'bob', reason: 'rebalance' }
const forEver = { ...owner, until: '2099-01-01T00:00:00Z' }
const limits = 'because policy allows 4 h at a time and 12 h on end'
const endsAt = (time: string) => ({
  problem: `${said} ends at 2026-01-01T${time}:00Z, ${limits}`,
  fault: 'capped' as const,
})
const hasEnded = (time: string) => ({
  problem: `${said} has ended at 2026-01-01T${time}:00Z, ${limits}`,
  fault: 'capped' as const,
})

interface Case {
  given: object | string | undefined
  /** By the server's time, in hours from now. */
  written?: number
  record?: AppLockRecord
  then: ParsedAppLock
}

const cases: Record<string, Case> = {
  'no annotation, no lock': { given: undefined, then: {} },
  'until a time': {
    given: { ...owner, until: '2026-01-01T14:00:00Z' },
    then: { lock: lock(2) },
  },
  'for a while since a time': {
    given: { ...owner, for: '2h', since: '2026-01-01T11:00:00Z' },
    then: { lock: lock(1, -1) },
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
  'for a number, which might be hours or seconds, is no lock': {
    given: { ...owner, for: 2, since: '2026-01-01T11:00:00Z' },
    then: { problem: `${said} "for" is no duration such as "2h" or "90m"; it does not lock`, fault: 'unreadable' },
  },
  'after a record whose end cannot be read it begins from now, as after a rest, and is cut like any other': {
    given: forEver,
    record: { ...record(-10, 1), until: 'soon' },
    then: { lock: lock(4), ...endsAt('16:00') },
  },
  'expired, it does not lock and is reported': {
    given: { ...owner, until: '2026-01-01T12:00:00Z' },
    then: { problem: `${said} expired at 2026-01-01T12:00:00Z; it does not lock`, fault: 'expired' },
  },
  'longer than allowed at a time, it is cut': {
    given: { ...owner, since: '2026-01-01T11:00:00Z', for: '9h' },
    then: { lock: lock(3, -1), ...endsAt('15:00') },
  },
  'dated ahead it gains nothing': {
    given: { ...owner, since: '2026-01-01T18:00:00Z', until: '2026-01-01T20:00:00Z' },
    then: { lock: lock(4), ...endsAt('16:00') },
  },
  'for ever, it locks at once, and four hours from when the server says that it was written': {
    given: forEver,
    written: -3,
    then: { lock: lock(1, -3), ...endsAt('13:00') },
  },
  'for ever, it is over four hours after it was written, and does not begin by itself later': {
    given: forEver,
    written: -4,
    then: hasEnded('12:00'),
  },
  'an end eight hours away locks at once and not four hours later, when it has come near': {
    given: { ...owner, until: '2026-01-01T16:00:00Z' },
    written: -4,
    then: hasEnded('12:00'),
  },
  'another beginning in the text than the server has can only shorten it': {
    given: { ...owner, since: '2026-01-01T11:30:00Z', until: '2026-01-01T15:00:00Z' },
    written: -2,
    then: { lock: lock(2, -2), ...endsAt('14:00') },
  },
  'a server time to come, written by the owner himself, gains nothing over the ledger': {
    given: forEver,
    written: 9,
    record: record(-3, 1, forEver),
    then: { lock: lock(1, -3), ...endsAt('13:00') },
  },
  'with every trace of its writing removed from the budget, it ends by the ledger': {
    given: forEver,
    record: record(-3.5, 0.5, forEver),
    then: { lock: lock(0.5, -3.5), ...endsAt('12:30') },
  },
  'prolonged again and again, it ends after the longest time on end': {
    given: { ...owner, since: '2026-01-01T12:00:00Z', for: '4h' },
    record: record(-10, 1),
    then: { lock: lock(2, 0, -10), ...endsAt('14:00') },
  },
  'prolonged beyond the longest time on end, it does not lock': {
    given: { ...owner, since: '2026-01-01T12:00:00Z', for: '4h' },
    record: record(-12, 0),
    then: hasEnded('12:00'),
  },
  'again within ten minutes of the end, it is the same hold': {
    given: { ...owner, for: '4h', since: '2026-01-01T12:00:00Z' },
    record: record(-11, -9 / 60),
    then: { lock: lock(1, 0, -11), ...endsAt('13:00') },
  },
  'again after a rest of ten minutes, it begins anew, though the ledger still has the record': {
    given: { ...owner, for: '4h', since: '2026-01-01T12:00:00Z' },
    record: record(-11, -10 / 60),
    then: { lock: lock(4) },
  },
  'the operator that found it removed died: it counts when it was written, not when somebody saw it': {
    given: { ...owner, until: '2026-01-01T15:00:00Z' },
    written: -1,
    record: record(-11, -1 - 5 / 60),
    then: { lock: lock(1, -1, -11), ...endsAt('13:00') },
  },
  'unchanged since policy ended it, it never begins anew': {
    given: forEver,
    written: 0,
    record: record(-40, -28, forEver, -32),
    then: { problem: `${said} has ended at 2025-12-31T08:00:00Z, ${limits}`, fault: 'capped' },
  },
  'nobody named, it locks and is reported': {
    given: { until: '2026-01-01T14:00:00Z', holder: 7, reason: ' ' },
    then: {
      lock: { ...lock(2), holder: 'the owner of the budget', reason: 'no reason given' },
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
  it.each(Object.entries(cases))('%s', (_sentence, { given, written, record: recorded, then }) => {
    const text = given === undefined || typeof given === 'string' ? given : JSON.stringify(given)
    const lockWrittenMs = written === undefined ? undefined : nowMs + hours(written)
    expect(parseAppLock(text, { ...context, lockWrittenMs, record: recorded })).toEqual(then)
  })

  it('whatever the text and the budget say, nothing is thrown and no lock lasts longer than policy allows', () => {
    const times = fc.constantFrom('2026-01-01T14:00:00Z', '2099-01-01T00:00:00Z', '1970-01-01T00:00:00Z', 'x', 5, null)
    const reported = fc
      .record(
        { until: times, since: times, for: fc.constantFrom('2h', '999999h', '', '-1h', 3), holder: fc.string() },
        { requiredKeys: [] },
      )
      .map((fields) => JSON.stringify(fields))
    const anyText = fc.oneof(fc.string(), fc.json(), reported)
    const hour = fc.option(fc.integer({ min: -20, max: 20 }), { nil: undefined })
    fc.assert(
      fc.property(anyText, hour, fc.option(fc.nat(20), { nil: undefined }), (text, written, heldFor) => {
        const lockWrittenMs = written === undefined ? undefined : nowMs + hours(written)
        const recorded = heldFor === undefined ? undefined : record(-heldFor, 1)
        const { lock: parsed } = parseAppLock(text, { ...context, lockWrittenMs, record: recorded })
        if (parsed === undefined) return
        expect(parsed.untilMs).toBeGreaterThan(nowMs)
        expect(parsed.untilMs).toBeLessThanOrEqual(Math.min(nowMs, lockWrittenMs ?? nowMs) + policy.maxTtlMs)
        expect(parsed.untilMs).toBeLessThanOrEqual(nowMs - hours(heldFor ?? 0) + policy.maxHoldMs)
        expect(parsed.sinceMs).toBeLessThanOrEqual(parsed.writtenMs)
      }),
    )
  })
})

describe('the limits of the policy in words', () => {
  const limitsOf = (maxTtlMs: number, maxHoldMs: number) =>
    parseAppLock(JSON.stringify(forEver), { ...context, policy: { ...policy, maxTtlMs, maxHoldMs } }).problem?.replace(
      /.*because policy allows /,
      '',
    )

  it('are hours and minutes, and never sixty minutes', () => {
    expect([
      limitsOf(minutes(45), minutes(90)),
      limitsOf(minutes(60), minutes(120) - 20_000),
      limitsOf(minutes(61), minutes(125)),
    ]).toEqual([
      '45 min at a time and 1 h 30 min on end',
      '1 h at a time and 2 h on end',
      '1 h 1 min at a time and 2 h 5 min on end',
    ])
  })
})

describe('the locks of one namespace', () => {
  const text = JSON.stringify({ ...owner, until: '2026-01-01T13:00:00Z' })
  const question = { namespace: 'shop', policy, nowMs, records: [] as readonly AppLockRecord[] }
  const locked = (name: string, annotations: Record<string, string> = { 'cofferdam.io/lock': text }) => ({
    name,
    annotations,
  })
  const recordOf = (budget: string, sinceMs: number, untilMs = nowMs + hours(1)) =>
    buildAppLockRecord(budget, { text, sinceMs, writtenMs: sinceMs, untilMs })
  const lockingOf = (judged: ReadonlyMap<string, ParsedAppLock>) =>
    [...judged].filter(([, result]) => result.lock !== undefined).map(([name]) => name)

  it('those held longest count, and what is over quota locks nothing and is reported', () => {
    const names = ['e', 'd', 'c', 'b', 'a', 'late', 'latest']
    const records = names.map((name, index) => recordOf(`shop/${name}`, nowMs - hours(1) + 1000 * index))
    const budgets = [...names.map((name) => locked(name)), locked('free', {})]
    const judged = judgeAppLocks({ ...question, records, budgets })
    expect(lockingOf(judged)).toEqual(['e', 'd', 'c', 'b', 'a'])
    expect(judged.get('latest')).toEqual({
      problem:
        'annotation cofferdam.io/lock of latest is one more than the 5 locks that its namespace may have at a time; it does not lock',
      fault: 'over-quota',
    })
    expect(judged.has('free')).toBe(false)
  })

  it('a newcomer that dates itself back takes no place from those that the ledger has', () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const records = names.map((name) => recordOf(`shop/${name}`, nowMs - 60_000))
    const back = JSON.stringify({ ...owner, since: '2026-01-01T09:00:00Z', until: '2026-01-01T12:30:00Z' })
    const budgets = [
      { ...locked('A', { 'cofferdam.io/lock': back }), lockWrittenMs: 0 },
      ...names.map((name) => locked(name)),
    ]
    expect(lockingOf(judgeAppLocks({ ...question, records, budgets }))).toEqual(names)
  })

  it('of those that began in the same second the first by name count, so that all judge alike', () => {
    const names = ['f', 'b', 'e', 'a', 'd', 'c']
    const judged = judgeAppLocks({ ...question, budgets: names.map((name) => locked(name)) })
    expect(lockingOf(judged)).toEqual(['b', 'e', 'a', 'd', 'c'])
  })

  it('of those that the ledger does not have the earlier ones count', () => {
    const budgets = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, at) => ({
      ...locked(name),
      lockWrittenMs: nowMs - 1000 * at,
    }))
    expect(lockingOf(judgeAppLocks({ ...question, budgets }))).toEqual(['b', 'c', 'd', 'e', 'f'])
  })

  it('a bad annotation takes no place of a good one', () => {
    const bad = ['1', '2', '3', '4', '5'].map((name) => locked(name, { 'cofferdam.io/lock': 'x' }))
    const judged = judgeAppLocks({ ...question, budgets: [...bad, locked('good')] })
    expect(judged.get('good')?.lock?.untilMs).toBe(nowMs + hours(1))
  })

  it('a lock that the ledger has no room for locks nothing and is reported; those in the ledger go on', () => {
    const crowd = Array.from({ length: 49 }, (_, index) => recordOf(`shop/gone-${index}`, nowMs - 60_000, nowMs - 1))
    const records = [...crowd, recordOf('shop/old', nowMs - 60_000)]
    const judged = judgeAppLocks({ ...question, records, budgets: [locked('old'), locked('new')] })
    expect(lockingOf(judged)).toEqual(['old'])
    expect(judged.get('new')).toEqual({
      problem: 'annotation cofferdam.io/lock of new is one more than the ledger has room for; it does not lock',
      fault: 'over-quota',
    })
    const elsewhere = judgeAppLocks({ ...question, namespace: 'bank', records, budgets: [locked('new')] })
    expect(lockingOf(elsewhere)).toEqual(['new'])
  })

  it('what an earlier version wrote on a budget can only shorten its lock', () => {
    const judged = (stamp: string, records: readonly AppLockRecord[] = []) => {
      const long = JSON.stringify({ ...owner, until: '2026-01-01T16:00:00Z' })
      const annotations = { 'cofferdam.io/lock': long, 'cofferdam.io/locked-since': stamp }
      return judgeAppLocks({ ...question, records, budgets: [locked('web', annotations)] }).get('web')?.lock?.untilMs
    }
    expect(judged('2026-01-01T01:00:00Z')).toBe(nowMs + hours(1))
    expect(judged('2026-01-01T01:00:00Z', [recordOf('shop/web', nowMs - hours(1))])).toBe(nowMs + hours(1))
    expect(judged('2026-01-01T11:00:00Z', [recordOf('shop/web', nowMs - hours(9))])).toBe(nowMs + hours(3))
    const unreadable = { ...recordOf('shop/web', nowMs - hours(1)), since: 'once' }
    expect(judged('2026-01-01T01:00:00Z', [unreadable])).toBe(nowMs + hours(1))
    for (const useless of ['2099-01-01T00:00:00Z', 'yesterday']) expect(judged(useless)).toBe(nowMs + hours(4))
  })
})

describe('the records of owners’ locks in the ledger', () => {
  const [before, after] = [record(-2, 1), record(-2, 2)]
  const none = { appLocks: [] as readonly AppLockRecord[] }

  it('what another leader changed meanwhile stays as it is', () => {
    const ledger = { appLocks: [record(-3, 1)] }
    expect(changeAppLocks(ledger, [{ budget: 'shop/web', before, after }])).toEqual({ ledger, overtaken: ['shop/web'] })
    expect(changeAppLocks(ledger, [{ budget: 'shop/web', before: undefined, after }]).overtaken).toEqual(['shop/web'])
  })

  it('a change that was made already is no change', () => {
    const ledger = { appLocks: [after] }
    expect(changeAppLocks(ledger, [{ budget: 'shop/web', before, after }]).ledger).toBe(ledger)
    expect(changeAppLocks(none, [{ budget: 'shop/web', before, after: undefined }]).ledger).toBe(none)
  })

  it('never are more than there is room for, however many locks there are', () => {
    const many = Array.from({ length: 501 }, (_, index) => ({ ...after, budget: `shop/${index}` }))
    const added = changeAppLocks(
      none,
      many.map((each) => ({ budget: each.budget, before: undefined, after: each })),
    )
    expect([added.ledger.appLocks.length, added.overtaken]).toEqual([500, ['shop/500']])
  })

  it('tell which namespaces are concerned', () => {
    const bank = { ...before, budget: 'bank/web' }
    expect([...namespacesOfChangedLocks([before, bank], [after, bank])]).toEqual(['shop'])
    expect([...namespacesOfChangedLocks([before, bank], [before])]).toEqual(['bank'])
  })
})

describe('records of locks in the ledger', () => {
  const [first, second] = [record(-1, 1), record(-1, 2)]

  it('are entered, changed and removed only while they are as they were when that was decided', () => {
    const empty = { appLocks: [] as readonly AppLockRecord[] }
    const budget = 'shop/web'
    const entered = changeAppLocks(empty, [{ budget, before: undefined, after: first }])
    const changed = changeAppLocks(entered.ledger, [{ budget, before: first, after: second }])
    const removed = changeAppLocks(changed.ledger, [{ budget, before: second, after: undefined }])
    const late = changeAppLocks(changed.ledger, [{ budget, before: first, after: undefined }])
    expect([entered, changed, removed, late].map(({ ledger, overtaken }) => [ledger.appLocks, overtaken])).toEqual([
      [[first], []],
      [[second], []],
      [[], []],
      [[second], [budget]],
    ])
  })

  it('that say the same already are left alone, down to the ledger', () => {
    const ledger = { appLocks: [first] }
    const same = changeAppLocks(ledger, [{ budget: 'shop/web', before: undefined, after: { ...first } }])
    expect([same.ledger === ledger, same.overtaken]).toEqual([true, []])
    expect(changeAppLocks(ledger, [{ budget: 'shop/db', before: first, after: undefined }]).ledger).toBe(ledger)
  })

  it('find no room in a full ledger, while one that stands can still be changed and removed', () => {
    const appLocks = Array.from({ length: 500 }, (_, at) => ({ ...first, budget: `shop/b${at}` }))
    const [own] = appLocks as [AppLockRecord]
    const asked = [
      { budget: 'shop/new', before: undefined, after: { ...first, budget: 'shop/new' } },
      { budget: own.budget, before: own, after: { ...second, budget: own.budget } },
    ]
    const { ledger, overtaken } = changeAppLocks({ appLocks }, asked)
    expect([ledger.appLocks.length, overtaken]).toEqual([500, ['shop/new']])
    expect(ledger.appLocks.find(({ budget }) => budget === own.budget)?.until).toBe(second.until)
    const without = changeAppLocks({ appLocks }, [{ budget: own.budget, before: own, after: undefined }])
    expect(without.ledger.appLocks).toHaveLength(499)
  })

  it('concern the namespaces in which one differs in any of its times, and no others', () => {
    const records = [first, { ...first, budget: 'bank/core' }]
    const differs = (change: Partial<AppLockRecord>) => [
      ...namespacesOfChangedLocks(records, [
        { ...first, ...change },
        { ...first, budget: 'bank/core' },
      ]),
    ]
    const other = '2025-12-31T00:00:00Z'
    expect([
      differs({}),
      differs({ text: 'x' }),
      differs({ since: other }),
      differs({ written: other }),
      differs({ until: other }),
      [...namespacesOfChangedLocks(records, records)],
      [...namespacesOfChangedLocks(records, [first])],
    ]).toEqual([[], ['shop'], ['shop'], ['shop'], ['shop'], [], ['bank']])
  })
})
