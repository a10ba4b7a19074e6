import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Deeds, openDeeds } from './testing/open-deeds.ts'

let deeds: Deeds
beforeEach(async () => {
  deeds = await openDeeds()
  await deeds.stage.clock.advance(10_000)
})
afterEach(() => deeds.stage.close())

/** Lets a minute pass, looking every second who is there. */
async function namesOfAMinute(): Promise<Set<string>> {
  const { clock, processes } = deeds.stage
  const names = new Set<string>()
  for (let second = 0; second < 60; second += 1) {
    for (const { name } of processes.running) names.add(name)
    await clock.advance(1_000)
    processes.replaceDead()
  }
  return names
}

it('a process that can open no connection gives up its lease and ends, and the next one leads when there are files again', async () => {
  const { stage, told } = deeds
  await deeds.perform('no file is left for another connection', 3)
  expect(told.at(-1)).toMatch(/^operator-1 and operator-2 can open no connection/)
  const names = await namesOfAMinute()
  expect(names.size).toBeGreaterThan(2)
  await stage.clock.advance(120_000)
  stage.processes.replaceDead()
  expect(stage.processes.running).toHaveLength(2)
})

it('processes that are killed for their memory come again, and are killed again', async () => {
  await deeds.perform('processes are killed for their memory', 2)
  const times = Number(/(\d+) times/.exec(deeds.told.at(-1) ?? '')?.[1])
  const names = await namesOfAMinute()
  expect(names.size).toBe(2 + 2 * Math.min(times, 3))
})
