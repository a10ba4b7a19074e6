import { describe, expect, it } from 'vitest'
import { defaultAppLockPolicy as policy } from '../../../ledger/rules/app-lock.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { type AppLockPassSnapshot, decideAppLockPass } from './app-lock-steps.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const lock = JSON.stringify({
  holder: 'ann',
  reason: 'rebalancing',
  since: '2026-01-01T12:00:00Z',
  until: '2026-01-01T13:00:00Z',
})
const budget = (name: string, annotations: Record<string, string> = {}) => ({
  name,
  uid: `uid of ${name}`,
  annotations: { 'cofferdam.io/lock': lock, ...annotations },
})

function stepsOf(change: Partial<AppLockPassSnapshot> = {}) {
  const { steps, recheckAfterMs } = decideAppLockPass({
    nowMs,
    policy,
    namespace: 'shop',
    budgets: [budget('web'), budget('db')],
    records: known([]),
    memory: new Map(),
    recordedMs: undefined,
    settled: new Set(),
    overtaken: new Set(),
    ...change,
  })
  const words = steps.map((step) =>
    step.do === 'hold' ? `hold ${step.changes.map((each) => each.budget).join(' ')}` : `${step.do} ${step.uid}`,
  )
  return { steps: words, recheckAfterMs }
}

describe('the steps of a pass over the locks of a namespace', () => {
  it('since when budgets are locked is in the ledger, in one write, before anything is reported', () => {
    expect(stepsOf().steps).toEqual(['hold shop/web shop/db', 'report uid of web', 'report uid of db'])
  })

  it('what an earlier version wrote on a budget goes only when the ledger has it: a crash between the two loses no time', () => {
    const old = budget('web', { 'cofferdam.io/locked-since': '2026-01-01T03:00:00Z' })
    expect(stepsOf({ budgets: [old] }).steps).toEqual(['hold shop/web', 'write uid of web', 'report uid of web'])
  })

  it('a budget that somebody keeps changing holds up no other, and is tried again soon', () => {
    expect(stepsOf({ overtaken: new Set(['web']) })).toEqual({
      steps: ['hold shop/db', 'report uid of db'],
      recheckAfterMs: 1_000,
    })
  })

  it('what the pass is done with is not done again, though copies do not show it yet', () => {
    expect(stepsOf({ settled: new Set(['web', 'db']) }).steps).toEqual([])
  })

  it('an owner who rewrites a lock without end does not keep others from the ledger', () => {
    expect(stepsOf({ recordedMs: nowMs - 500 })).toEqual({ steps: [], recheckAfterMs: 1_500 })
    expect(stepsOf({ recordedMs: nowMs - 2_000 }).steps).toHaveLength(3)
  })

  it('while the ledger cannot be read, nothing is begun and nothing is reported', () => {
    expect(stepsOf({ records: unknown('it makes no sense') })).toEqual({ steps: [], recheckAfterMs: 10_000 })
  })
})
