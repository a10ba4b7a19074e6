import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { sleep } from './clock.ts'
import { type Controller, type Outcome, runController } from './controller.ts'
import { seededRandom } from './random.ts'

function scenario(controller: Partial<Controller>, workers = 1) {
  const clock = new VirtualClock(0)
  const outcomes: Outcome[] = []
  const running = runController(
    {
      name: 'story',
      start: async (enqueue) => enqueue('node-a'),
      reconcile: async () => undefined,
      ...controller,
    },
    { clock, random: seededRandom(1), workers, onOutcome: (outcome) => outcomes.push(outcome) },
  )
  return { clock, outcomes, running }
}

it('a throw in one key is retried with growing waits while other keys go on', async () => {
  const attempts: string[] = []
  const { clock, outcomes, running } = scenario({
    start: async (enqueue) => {
      for (const key of ['bad', 'good']) enqueue(key)
    },
    reconcile: async (key) => {
      attempts.push(key)
      if (key === 'bad') throw new Error('no such zone')
      return { recheckAfterSeconds: 1 }
    },
  })
  await clock.advance(5_000)
  await running.stop()
  expect(attempts.filter((key) => key === 'good')).toHaveLength(6)
  const waits = outcomes.flatMap((outcome) => (outcome.result === 'failed' ? [outcome.retryInMs] : []))
  expect(waits.length).toBeGreaterThan(3)
  expect(waits).toEqual([...waits].sort((a, b) => a - b))
})

it('a controller that cannot start keeps trying, and says so', async () => {
  let tries = 0
  const { clock, outcomes, running } = scenario({
    start: async (enqueue) => {
      tries += 1
      if (tries < 3) throw new Error('the API does not answer')
      enqueue('node-a')
    },
  })
  await clock.advance(1)
  expect(running.isStarted()).toBe(false)
  await clock.advance(60_000)
  expect([tries, running.isStarted(), outcomes.filter((outcome) => outcome.result === 'failed').length]).toEqual([
    3,
    true,
    2,
  ])
  await running.stop()
})

it('a key that a first change asks for waits until everything has been read: pods not read yet would count as gone', async () => {
  const worked: string[] = []
  const clock = new VirtualClock(0)
  const running = runController(
    {
      name: 'story',
      start: async (enqueue) => {
        enqueue('node-a')
        await sleep(clock, 60_000)
      },
      reconcile: async (key) => {
        worked.push(key)
        return undefined
      },
    },
    { clock, random: seededRandom(1), workers: 2 },
  )
  running.queue.add('node-b')
  await clock.advance(59_000)
  expect(worked).toEqual([])
  await clock.advance(2_000)
  expect(worked).toEqual(['node-a', 'node-b'])
  await running.stop()
})

it('one key is never worked on by two workers at once', async () => {
  let atWork = 0
  let most = 0
  const clock = new VirtualClock(0)
  const running = runController(
    {
      name: 'story',
      start: async () => {},
      reconcile: async () => {
        atWork += 1
        most = Math.max(most, atWork)
        await sleep(clock, 100)
        atWork -= 1
        return undefined
      },
    },
    { clock, random: seededRandom(1), workers: 4 },
  )
  for (let at = 0; at < 20; at += 1) {
    running.queue.add('node-a')
    await clock.advance(30)
  }
  await clock.advance(1_000)
  await running.stop()
  expect(most).toBe(1)
})

it('a stop lets work that has begun end, and hands out nothing more', async () => {
  const clock = new VirtualClock(0)
  const ended: string[] = []
  const running = runController(
    {
      name: 'story',
      start: async (enqueue) => {
        for (const key of ['node-a', 'node-b']) enqueue(key)
      },
      reconcile: async (key, signal) => {
        await sleep(clock, 3_000, signal)
        ended.push(`${key} ${signal.aborted ? 'cut off' : 'whole'}`)
        return undefined
      },
    },
    { clock, random: seededRandom(1) },
  )
  await clock.advance(1_000)
  const stopped = running.stop()
  await clock.advance(5_000)
  await stopped
  expect(ended).toEqual(['node-a whole'])
})

it('work that does not end within the grace of a stop is told to', async () => {
  const clock = new VirtualClock(0)
  let cutOffAt = 0
  const running = runController(
    {
      name: 'story',
      start: async (enqueue) => enqueue('node-a'),
      reconcile: async (_key, signal) => {
        await sleep(clock, 3_600_000, signal)
        cutOffAt = clock.now()
        return undefined
      },
    },
    { clock, random: seededRandom(1), stopGraceMs: 2_000 },
  )
  await clock.advance(1_000)
  const stopped = running.stop()
  await clock.advance(10_000)
  await stopped
  expect(cutOffAt).toBe(3_000)
})
