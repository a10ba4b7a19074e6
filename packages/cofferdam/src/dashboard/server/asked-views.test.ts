import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import { createAskedViews } from './asked-views.ts'

const free: BudgetVerdict = { tone: 'calm', says: '1 may go now' }
const held: BudgetVerdict = { tone: 'busy', says: 'Blocked: zone a is away' }

function open() {
  const clock = new VirtualClock(0)
  const fixture = { answer: new Map([['shop/web', free]]), isWanted: true, asked: 0, isRefused: false, takesMs: 0 }
  const wakers = new Set<() => void>()
  const told: string[] = []
  const asked = createAskedViews({
    clock,
    sources: [
      {
        subscribe(listener) {
          const wake = () => listener({ type: 'added', key: '', value: undefined } as never)
          wakers.add(wake)
          return () => wakers.delete(wake)
        },
      },
    ],
    isWanted: () => fixture.isWanted,
    ask: async () => {
      fixture.asked += 1
      if (fixture.takesMs > 0) await sleep(clock, fixture.takesMs)
      if (fixture.isRefused) throw new Error('the server does not answer')
      return { budgets: fixture.answer }
    },
  })
  const watch = asked.view('budgets')
  watch.subscribe((change) => told.push(`${change.key} ${change.type === 'removed' ? 'gone' : change.value.says}`))
  return { clock, fixture, told, watch, stop: () => asked.stop(), wake: () => [...wakers].map((each) => each()) }
}

it('many changes at once are judged once, and only what came out differently is told', async () => {
  const { clock, fixture, told, wake } = open()
  for (let count = 0; count < 20; count += 1) wake()
  await clock.advance(1_000)
  expect({ asked: fixture.asked, told }).toEqual({ asked: 1, told: ['shop/web 1 may go now'] })
  fixture.answer = new Map([['shop/web', held]])
  wake()
  await clock.advance(3_000)
  fixture.answer = new Map()
  await clock.advance(6_000)
  expect(told.slice(1)).toEqual(['shop/web Blocked: zone a is away', 'shop/web gone'])
})

it('a cluster in which something changes all the time is not listed all the time', async () => {
  const { clock, fixture, wake } = open()
  for (let step = 0; step < 100; step += 1) {
    wake()
    await clock.advance(100)
  }
  expect(fixture.asked).toBeLessThanOrEqual(5)
})

it('nothing is asked of the cluster while nobody looks at the page', async () => {
  const { clock, fixture, wake } = open()
  fixture.isWanted = false
  wake()
  await clock.advance(60_000)
  expect(fixture.asked).toBe(0)
})

it('a server that does not answer leaves the last verdicts, and is asked again', async () => {
  const { clock, fixture, watch, stop, wake } = open()
  wake()
  await clock.advance(1_000)
  fixture.isRefused = true
  wake()
  await clock.advance(3_000)
  expect([...watch.list()]).toEqual([{ id: 'shop/web', ...free }])
  fixture.isRefused = false
  fixture.answer = new Map([['shop/web', held]])
  await clock.advance(6_000)
  expect([...watch.list()]).toEqual([{ id: 'shop/web', ...held }])
  await stop()
})

it('a cluster so large that an answer takes seconds is asked seldom, so that most of the processor is left to others', async () => {
  const { clock, fixture, wake, stop } = open()
  fixture.takesMs = 2_000
  wake()
  for (let second = 0; second < 60; second += 1) {
    await clock.advance(1_000)
    wake()
  }
  expect(fixture.asked).toBe(3)
  await stop()
})
