import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventRecorder } from './event-recorder.ts'

const minutes = 60_000
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ object: fc.nat(1), topic: fc.nat(2), reason: fc.nat(1), note: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ waitMs: fc.constantFrom(0, 1_000, minutes, 20 * minutes) }) },
  { weight: 1, arbitrary: fc.record({ forget: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ refusing: fc.boolean() }) },
)

it('whatever is recorded in whatever order, the same words never flood, and words that stand are written in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 400 }), async (steps) => {
      const clock = new VirtualClock()
      const written = new Map<string, number[]>()
      const tried = new Set<string>()
      const last = new Map<string, string>()
      const standing = new Map<string, { words: string; again: () => Promise<unknown> }>()
      let isRefusing = false
      const events = new EventRecorder({
        clock,
        write: async ({ metadata: { uid = '' } }, { reason, note }) => {
          const words = `${uid} ${reason} ${note}`
          tried.add(words)
          if (isRefusing) throw new Error('refused')
          written.set(words, [...(written.get(words) ?? []), clock.now()])
          last.set(`${uid} ${reason.slice(0, 2)}`, words)
        },
      })
      for (const each of steps) {
        if ('waitMs' in each) await clock.advance(each.waitMs)
        else if ('forget' in each) events.forget(`t${each.forget}`)
        else if ('refusing' in each) isRefusing = each.refusing
        else {
          const uid = `u${each.object}`
          const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: uid, uid } }
          // The topic stands in the reason, so that what was written last on it can be told.
          const text = { type: 'Normal', reason: `t${each.topic}r${each.reason}`, note: `n${each.note}` } as const
          const topic = each.topic === 2 ? undefined : { group: `t${each.topic}`, slot: uid }
          const words = `${uid} ${text.reason} ${text.note}`
          await events.record(about, text, topic)
          const again = () => events.record(about, text, topic)
          if (topic !== undefined) standing.set(`${uid} t${each.topic}`, { words, again })
          expect(tried.has(words), `new words are never left out: ${words}`).toBe(true)
        }
      }
      for (const [words, times] of written) {
        for (const atMs of times) {
          const within = times.filter((other) => other >= atMs && other < atMs + 10 * minutes)
          expect(within.length, words).toBeLessThanOrEqual(10)
        }
      }
      isRefusing = false
      await clock.advance(20 * minutes)
      for (const [topic, { words, again }] of standing) {
        await again()
        expect(last.get(topic), topic).toBe(words)
      }
    }),
    { numRuns: 200 },
  )
})
