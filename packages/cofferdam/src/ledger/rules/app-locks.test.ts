import { expect, it } from 'vitest'
import { defaultAppLockPolicy as policy } from './app-lock.ts'
import { appLocksInForce } from './app-locks.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const lock = (until: string) => JSON.stringify({ until, holder: 'shop team', reason: 'rebalancing' })

it('the locks of a namespace are those in force: what has ended or cannot be read locks nothing', () => {
  const budgets = [
    { name: 'web', annotations: { 'cofferdam.io/lock': lock('2026-01-01T13:00:00Z') }, lockWrittenMs: nowMs - 1000 },
    { name: 'old', annotations: { 'cofferdam.io/lock': lock('2026-01-01T11:00:00Z') } },
    { name: 'odd', annotations: { 'cofferdam.io/lock': 'for ever' } },
    { name: 'free', annotations: {} },
  ]
  const times = { sinceMs: nowMs - 1000, writtenMs: nowMs - 1000, untilMs: Date.UTC(2026, 0, 1, 13) }
  expect([...appLocksInForce({ namespace: 'shop', budgets, records: [], policy, nowMs })]).toEqual([
    ['web', { holder: 'shop team', reason: 'rebalancing', ...times }],
  ])
})
