import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { createWorkQueue } from './work-queue.ts'

function openQueue(options: { concurrency?: number; work?: (key: string) => Promise<void> } = {}) {
  const clock = new VirtualClock(0)
  const log: string[] = []
  const { work = async () => {}, concurrency = 1 } = options
  const queue = createWorkQueue({
    clock,
    concurrency,
    delayMs: 10,
    work: async (key) => {
      log.push(`${clock.now()} ${key}`)
      await work(key)
    },
  })
  return { clock, log, queue }
}

describe('a work queue', () => {
  it('turns a burst of additions of one key into one piece of work', async () => {
    const { clock, log, queue } = openQueue()
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
    await clock.advance(100)
    expect(log).toEqual(['10 a', '10 b'])
  })

  it('works again on a key that was added while it was worked on, and never twice at a time', async () => {
    const clock = new VirtualClock(0)
    let atOnce = 0
    let most = 0
    let runs = 0
    const queue = createWorkQueue({
      clock,
      concurrency: 4,
      work: async () => {
        runs += 1
        most = Math.max(most, ++atOnce)
        await sleep(clock, 50)
        atOnce -= 1
      },
    })
    queue.add('a')
    await clock.advance(20)
    queue.add('a')
    queue.add('a')
    await clock.advance(500)
    expect({ runs, most }).toEqual({ runs: 2, most: 1 })
  })

  it('tries a key that failed again with growing pauses while other keys go on', async () => {
    const failing = { left: 3 }
    const { clock, log, queue } = openQueue({
      work: async (key) => {
        if (key === 'bad' && failing.left-- > 0) throw new Error('not yet')
      },
    })
    queue.add('bad')
    queue.add('good')
    await clock.advance(1_000)
    expect(log).toEqual(['10 bad', '10 good', '25 bad', '45 bad', '75 bad'])
  })

  it('starts other keys while one hangs', async () => {
    const { clock, log, queue } = openQueue({
      concurrency: 2,
      work: (key) => (key === 'slow' ? new Promise(() => {}) : Promise.resolve()),
    })
    queue.add('slow')
    await clock.advance(50)
    queue.add('a')
    await clock.advance(50)
    queue.add('b')
    await clock.advance(50)
    expect(log).toEqual(['10 slow', '60 a', '110 b'])
  })

  it('keeps the earliest of several later times', async () => {
    const { clock, log, queue } = openQueue()
    queue.addAfter('a', 500)
    queue.addAfter('a', 100)
    queue.addAfter('a', 300)
    await clock.advance(1_000)
    expect(log).toEqual(['110 a'])
  })

  it('does nothing more after it was stopped', async () => {
    const { clock, log, queue } = openQueue()
    queue.add('a')
    queue.addAfter('b', 5)
    queue.stop()
    queue.add('c')
    await clock.advance(1_000)
    expect({ log, next: clock.nextAt() }).toEqual({ log: [], next: undefined })
  })
})
