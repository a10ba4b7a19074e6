import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from './random.ts'
import { WorkQueue } from './work-queue.ts'

function openQueue() {
  const clock = new VirtualClock(0)
  return { clock, queue: new WorkQueue({ clock, random: seededRandom(1) }) }
}

describe('a work queue', () => {
  it('hands a key out once, however often it was added before', async () => {
    const { queue } = openQueue()
    queue.add('node-a')
    queue.add('node-b')
    queue.add('node-a')
    expect([await queue.take(), await queue.take(), queue.depth]).toEqual(['node-a', 'node-b', 0])
  })

  it('hands a key that was added during its work out again, but only when that work is done', async () => {
    const { queue } = openQueue()
    queue.add('node-a')
    await queue.take()
    queue.add('node-a')
    queue.add('node-a')
    expect(queue.depth).toBe(0)
    queue.done('node-a')
    expect(await queue.take()).toBe('node-a')
    queue.done('node-a')
    expect(queue.depth).toBe(0)
  })

  it('wakes a taker that was there before the key', async () => {
    const { queue } = openQueue()
    const taken = queue.take()
    queue.add('node-a')
    expect(await taken).toBe('node-a')
  })

  it('keeps the earliest of several rechecks, so that a late one cannot postpone an urgent one', async () => {
    const { clock, queue } = openQueue()
    queue.addAfter('node-a', 60_000)
    queue.addAfter('node-a', 5_000)
    queue.addAfter('node-a', 30_000)
    await clock.advance(4_999)
    expect(queue.depth).toBe(0)
    await clock.advance(1)
    expect(queue.depth).toBe(1)
    await queue.take()
    queue.done('node-a')
    await clock.advance(120_000)
    expect(queue.depth).toBe(0)
  })

  it('waits longer after each failure in a row, and starts over once failures are forgotten', () => {
    const { queue } = openQueue()
    const waits = [1, 2, 3, 4].map(() => queue.addAfterFailure('node-a'))
    expect(waits.every((wait, at) => at === 0 || wait > (waits[at - 1] as number))).toBe(true)
    queue.forgetFailures('node-a')
    expect(queue.addAfterFailure('node-a')).toBeLessThanOrEqual(200)
  })

  it('lets waiting takers go when it closes, and takes nothing in any more', async () => {
    const { clock, queue } = openQueue()
    const taken = queue.take()
    queue.addAfter('node-b', 10)
    queue.close()
    queue.add('node-a')
    await clock.advance(100)
    expect([await taken, await queue.take(), queue.depth]).toEqual([undefined, undefined, 0])
  })
})

it('never hands one key to two workers, and never forgets a key, whatever happens in which order', async () => {
  const step = fc.oneof(
    fc.record({ what: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ what: fc.constant('later' as const), key: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(50) }),
    fc.record({ what: fc.constant('fail' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ what: fc.constant('take' as const) }),
    fc.record({ what: fc.constant('done' as const), nth: fc.nat(3) }),
    fc.record({ what: fc.constant('wait' as const), ms: fc.nat(40) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, queue } = openQueue()
      const inWork: string[] = []
      const owed = new Set<string>()
      for (const action of steps) {
        if (action.what === 'add') {
          queue.add(action.key)
          owed.add(action.key)
        } else if (action.what === 'later') {
          queue.addAfter(action.key, action.ms)
          owed.add(action.key)
        } else if (action.what === 'fail') {
          queue.addAfterFailure(action.key)
          owed.add(action.key)
        } else if (action.what === 'take' && queue.depth > 0) {
          const key = (await queue.take()) as string
          expect(inWork).not.toContain(key)
          inWork.push(key)
          owed.delete(key)
        } else if (action.what === 'done' && inWork.length > 0) {
          queue.done(inWork.splice(action.nth % inWork.length, 1)[0] as string)
        } else if (action.what === 'wait') {
          await clock.advance(action.ms)
        }
      }
      for (const key of inWork) queue.done(key)
      await clock.advance(10_000_000)
      const left: string[] = []
      while (queue.depth > 0) left.push((await queue.take()) as string)
      expect(left).toEqual(expect.arrayContaining([...owed]))
    }),
    { numRuns: 300 },
  )
})
