import { describe, expect, it } from 'vitest'
import { defaultAppLockPolicy } from './app-lock.ts'
import { appLocksInForce, lockableBudget } from './app-locks.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const lock = (until: string) => JSON.stringify({ until, holder: 'shop team', reason: 'rebalancing' })
const budget = (name: string, annotations: Record<string, string>) => lockableBudget({ name, annotations })

describe('the locks of a namespace', () => {
  it('are those in force: what has ended or cannot be read locks nothing, what nobody locked is left out', () => {
    const budgets = [
      budget('web', { 'cofferdam.io/lock': lock('2026-01-01T13:00:00Z') }),
      budget('old', { 'cofferdam.io/lock': lock('2026-01-01T11:00:00Z') }),
      budget('odd', { 'cofferdam.io/lock': 'for ever' }),
      budget('free', {}),
    ].flatMap((each) => each ?? [])
    expect([...appLocksInForce(budgets, defaultAppLockPolicy, nowMs)]).toEqual([
      ['web', { holder: 'shop team', reason: 'rebalancing', untilMs: Date.UTC(2026, 0, 1, 13) }],
    ])
  })

  it('end when the budget has been locked for as long as policy allows, however often the lock was prolonged', () => {
    const annotations = {
      'cofferdam.io/lock': lock('2026-01-01T15:00:00Z'),
      'cofferdam.io/locked-since': '2026-01-01T01:00:00Z',
    }
    const budgets = [budget('web', annotations)].flatMap((each) => each ?? [])
    expect(appLocksInForce(budgets, defaultAppLockPolicy, nowMs).get('web')?.untilMs).toBe(Date.UTC(2026, 0, 1, 13))
  })
})
