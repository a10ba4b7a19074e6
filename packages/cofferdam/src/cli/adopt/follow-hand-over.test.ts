import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { plainPaint } from '../../shared/paint.ts'
import { followHandOver } from './follow-hand-over.ts'
import type { HandOver } from './hand-over-kind.ts'

let scenario: Scenario
beforeEach(() => {
  scenario = openScenario()
})
afterEach(() => scenario.stop())

const terminal = { note() {}, progress() {}, paint: plainPaint } as never

/** A hand-over that is done when the other operator has answered, half an hour from now. */
function slowHandOver(): HandOver {
  const doneMs = scenario.clock.now() + 1_800_000
  return {
    object: 'cephcluster/rook-ceph/rook-ceph',
    plan: async () => ({
      checks: [],
      changes: [],
      pending: scenario.clock.now() < doneMs ? ['waiting for Rook'] : [],
    }),
  } as Partial<HandOver> as HandOver
}

const rows: Record<string, { timeoutMs: number; then: string }> = {
  'with a timeout of 0 it waits as long as it takes: it was given up after its first write': {
    timeoutMs: 0,
    then: 'done at 2026-01-01T00:30:05Z',
  },
  'with a timeout it ends then, and the operator goes on': {
    timeoutMs: 300_000,
    then: 'timed-out at 2026-01-01T00:05:00Z',
  },
}
it.each(Object.entries(rows))('%s', async (_, { timeoutMs, then }) => {
  const handOver = slowHandOver()
  const { signal } = new AbortController()
  let ended = ''
  const following = followHandOver(handOver, await handOver.plan(), {
    clock: scenario.clock,
    terminal,
    signal,
    timeoutMs,
  }).then((followed) => {
    ended = `${followed.ended} at ${timestamp(scenario.clock)}`
  })
  await scenario.seconds(1_900)
  await following
  expect(ended).toBe(then)
})
