import { describe, expect, it } from 'vitest'
import { type AppLockPolicy, defaultAppLockPolicy } from './app-lock.ts'
import { decideLock, type LockQuestion } from './ask-lock.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const minute = 60_000
const policy: AppLockPolicy = { ...defaultAppLockPolicy, maxPerNamespace: 2 }
const text = (holder: string, reason = 'rebalancing', until = '2026-01-01T12:30:00Z') =>
  JSON.stringify({ holder, reason, since: '2026-01-01T11:50:00Z', until })
const locked = (name: string, holder: string) => ({
  name,
  annotations: { 'cofferdam.io/lock': text(holder) },
  lockWrittenMs: nowMs - 10 * minute,
})
const free = (name: string) => ({ name, annotations: {} })

const ask = (given: Partial<LockQuestion>) =>
  decideLock({
    namespace: 'shop',
    budgets: [free('web')],
    records: [],
    policy,
    nowMs,
    name: 'web',
    holder: 'shop team',
    reason: 'migration',
    forMs: 20 * minute,
    isForced: false,
    ...given,
  })

describe('an owner who locks a budget', () => {
  it('gets a lock that counts at once, until the time that was asked for', () => {
    expect(ask({})).toEqual({
      allowed: true,
      text: '{"holder":"shop team","reason":"migration","since":"2026-01-01T12:00:00Z","until":"2026-01-01T12:20:00Z"}',
      lock: {
        holder: 'shop team',
        reason: 'migration',
        sinceMs: nowMs,
        writtenMs: nowMs,
        untilMs: nowMs + 20 * minute,
      },
      takenFrom: undefined,
      problem: undefined,
    })
  })

  it('does not take the lock of another by accident: that one would drain an application in the middle of its work', () => {
    expect(ask({ budgets: [locked('web', 'data team')] })).toMatchObject({
      allowed: false,
      reason: 'AppLocked',
      explanation: 'data team has locked it until 2026-01-01T12:30:00Z: rebalancing.',
      wayOut: 'It ends by itself; --force takes it over from data team.',
      lock: { holder: 'data team' },
    })
  })

  it('takes it over when that is asked for, and is told from whom', () => {
    expect(ask({ budgets: [locked('web', 'data team')], isForced: true })).toMatchObject({
      allowed: true,
      lock: { holder: 'shop team' },
      takenFrom: { holder: 'data team' },
    })
  })

  it('extends a lock of its own without force, and takes it from no one', () => {
    expect(ask({ budgets: [locked('web', 'shop team')] })).toMatchObject({ allowed: true, takenFrom: undefined })
  })

  it('is refused when the namespace has as many locks as it may have, with their names and the way out', () => {
    const ended = {
      name: 'cache',
      annotations: { 'cofferdam.io/lock': text('bob', 'restore', '2026-01-01T11:55:00Z') },
    }
    const budgets = [free('web'), locked('db', 'data team'), locked('queue', 'data team'), ended]
    expect(ask({ budgets })).toEqual({
      allowed: false,
      reason: 'LockRefused',
      explanation: 'its namespace has 2 locks already, and may have 2: db, queue.',
      wayOut: 'Unlock one of them, or wait until one ends.',
      lock: undefined,
    })
  })

  it('is let in while one lock is left, and a lock of its own is none of the others', () => {
    const budgets = [locked('db', 'data team'), locked('web', 'shop team')]
    expect([ask({ budgets }).allowed, ask({ budgets: [locked('db', 'data team'), free('web')] }).allowed]).toEqual([
      true,
      true,
    ])
  })

  it('is refused after the longest time that a budget may be locked, until it has rested', () => {
    const since = nowMs - policy.maxHoldMs
    const record = {
      budget: 'shop/web',
      text: 'other',
      since: new Date(since).toISOString(),
      written: new Date(since).toISOString(),
      until: new Date(nowMs - minute).toISOString(),
    }
    expect(ask({ records: [record] })).toMatchObject({
      allowed: false,
      reason: 'LockRefused',
      explanation: expect.stringContaining('has ended at 2026-01-01T12:00:00Z, because policy allows'),
      wayOut: 'Lock it again 10 minutes after its last lock has ended.',
      lock: undefined,
    })
  })
})
