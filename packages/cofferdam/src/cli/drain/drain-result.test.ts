import { expect, it } from 'vitest'
import { type DrainOutcome, type DrainResult, drainExitCode } from './drain-result.ts'

const codeOf = (...outcomes: readonly DrainOutcome[]) => {
  const drains = outcomes.map((outcome) => ({ outcome }) as DrainResult)
  return drainExitCode({ waves: [], drains, observedAt: '2026-01-01T00:00:00Z' })
}

it('several nodes of which one is rejected do not end with 0: a script would power off the one with its pods on it', () => {
  expect([codeOf('drained', 'rejected', 'drained'), codeOf('timed-out', 'blocked'), codeOf('drained')]).toEqual([
    3, 3, 0,
  ])
})
