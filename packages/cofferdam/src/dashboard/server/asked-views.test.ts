import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import { createAskedViews } from './asked-views.ts'

const free: BudgetVerdict = { tone: 'calm', says: '1 may go now' }
const held: BudgetVerdict = { tone: 'busy', says: 'Blocked: zone a is away' }

function open() {
  const clock = new VirtualClock(0)
  const stage = { answer: new Map([['shop/web', free]]), isWanted: true, asked: 0, isRefused: false }
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
    isWanted: () => stage.isWanted,
    ask: async () => {
      stage.asked += 1
      if (stage.isRefused) throw new Error('the server does not answer')
      return { budgets: stage.answer }
    },
  })
  const watch = asked.view('budgets')
  watch.subscribe((change) => told.push(`${change.key} ${change.type === 'removed' ? 'gone' : change.value.says}`))
  return { clock, stage, told, watch, stop: () => asked.stop(), wake: () => [...wakers].map((each) => each()) }
}

it('many changes at once are judged once, and only what came out differently is told', async () => {
  const { clock, stage, told, wake } = open()
  for (let count = 0; count < 20; count += 1) wake()
  await clock.advance(1_000)
  expect({ asked: stage.asked, told }).toEqual({ asked: 1, told: ['shop/web 1 may go now'] })
  stage.answer = new Map([['shop/web', held]])
  wake()
  await clock.advance(3_000)
  stage.answer = new Map()
  await clock.advance(6_000)
  expect(told.slice(1)).toEqual(['shop/web Blocked: zone a is away', 'shop/web gone'])
})

it('a cluster in which something changes all the time is not listed all the time', async () => {
  const { clock, stage, wake } = open()
  for (let step = 0; step < 100; step += 1) {
    wake()
    await clock.advance(100)
  }
  expect(stage.asked).toBeLessThanOrEqual(5)
})

it('nothing is asked of the cluster while nobody looks at the page', async () => {
  const { clock, stage, wake } = open()
  stage.isWanted = false
  wake()
  await clock.advance(60_000)
  expect(stage.asked).toBe(0)
})

it('a server that does not answer leaves the last verdicts, and is asked again', async () => {
  const { clock, stage, watch, stop, wake } = open()
  wake()
  await clock.advance(1_000)
  stage.isRefused = true
  wake()
  await clock.advance(3_000)
  expect([...watch.list()]).toEqual([{ id: 'shop/web', ...free }])
  stage.isRefused = false
  stage.answer = new Map([['shop/web', held]])
  await clock.advance(6_000)
  expect([...watch.list()]).toEqual([{ id: 'shop/web', ...held }])
  await stop()
})
