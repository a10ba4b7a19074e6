import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { createFreezable } from '../../scenarios/testing/freezable.ts'
import { noHazards } from '../stage/hazards.ts'
import type { Process, Processes } from '../stage/processes.ts'
import { openExcuses } from './excuses.ts'

const minuteMs = 60_000

function openReplicas() {
  const clock = new VirtualClock()
  const start = (name: string): Process => ({
    name,
    hazards: noHazards(),
    freezable: createFreezable(clock),
    skewMs: 0,
    sinceMs: clock.now(),
    hasEnded: () => false,
    stop: async () => {},
  })
  const running = [start('operator-1'), start('operator-2')]
  const processes: Processes = { running, replicas: 2, replaceDead() {}, restart: async () => {}, stop: async () => {} }
  return { clock, running, start, excuses: openExcuses(clock, () => processes) }
}

it('two replicas attend to the cluster once both have settled', async () => {
  const { clock, excuses } = openReplicas()
  expect(excuses.isAttendedFor(minuteMs)).toBe(false)
  await clock.advance(2 * minuteMs)
  expect(excuses.isAttendedFor(minuteMs)).toBe(true)
})

it('nobody attends while a lost replica is not replaced: seed 1974 blamed the other for a swap of budgets before it could lead', async () => {
  const { clock, running, start, excuses } = openReplicas()
  await clock.advance(2 * minuteMs)
  running.shift()
  expect(excuses.isAttendedFor(minuteMs)).toBe(false)
  running.push(start('operator-3'))
  await clock.advance(2 * minuteMs)
  expect(excuses.isAttendedFor(minuteMs)).toBe(true)
})
