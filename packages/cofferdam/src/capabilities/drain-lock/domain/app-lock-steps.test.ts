import { describe, expect, it } from 'vitest'
import { defaultAppLockPolicy as policy } from '../../../ledger/rules/app-lock.ts'
import { type AppLockPassSnapshot, decideAppLockPass } from './app-lock-steps.ts'
import { appLockRestMs } from './decide-app-locks.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const lock = JSON.stringify({
  holder: 'ann',
  reason: 'rebalancing',
  since: '2026-01-01T12:00:00Z',
  until: '2026-01-01T13:00:00Z',
})
const budget = (name: string) => ({ name, uid: `uid of ${name}`, annotations: { 'cofferdam.io/lock': lock } })

function stepsOf(change: Partial<AppLockPassSnapshot> = {}) {
  const { steps, recheckAfterMs } = decideAppLockPass({
    nowMs,
    policy,
    restMs: appLockRestMs,
    budgets: [budget('web'), budget('db')],
    memory: new Map(),
    settled: new Set(),
    overtaken: new Set(),
    ...change,
  })
  return { steps: steps.map((step) => `${step.do} ${step.uid}`), recheckAfterMs }
}

describe('the steps of a pass over the locks of a namespace', () => {
  it('since when a budget is locked is written on it before it is told', () => {
    expect(stepsOf().steps).toEqual(['write uid of web', 'report uid of web', 'write uid of db', 'report uid of db'])
  })

  it('a budget that somebody keeps changing holds up no other, and is tried again soon', () => {
    expect(stepsOf({ overtaken: new Set(['uid of web']) })).toEqual({
      steps: ['write uid of db', 'report uid of db'],
      recheckAfterMs: 1_000,
    })
  })

  it('what the pass is done with is not done again, though copies do not show it yet', () => {
    expect(stepsOf({ settled: new Set(['uid of web', 'uid of db']) }).steps).toEqual([])
  })
})
