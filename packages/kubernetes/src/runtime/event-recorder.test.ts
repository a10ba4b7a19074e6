import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import type { EventSubject } from './build-event.ts'
import type { Topic } from './event-memory.ts'
import { EventRecorder, type Standing } from './event-recorder.ts'

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', uid: 'u1' } }
const other = { ...node, metadata: { name: 'b', uid: 'u2' } }
const rebuilt = { ...node, metadata: { name: 'a', uid: 'u3' } }

function desk() {
  const clock = new VirtualClock()
  const written: string[] = []
  const refused: string[] = []
  const refusing = { is: false }
  const events = new EventRecorder({
    clock,
    write: async ({ metadata }, { reason, note }) => {
      if (refusing.is) throw new Error('forbidden')
      written.push(`${metadata.name} ${reason}: ${note}`)
    },
    onRefused: ({ metadata }, { reason }) => refused.push(`${metadata.name} ${reason}`),
  })
  return { clock, written, refused, refusing, events }
}

type Desk = ReturnType<typeof desk>

const say = ({ events }: Desk, words: string, topic?: Topic, about: EventSubject = node) => {
  const [reason = '', note = ''] = words.split(': ')
  return events.record(about, { type: 'Normal', reason, note }, topic)
}
const onDrain: Topic = { group: 'drain' }

const scenarios: Record<string, { readonly when: (at: Desk) => Promise<unknown>; readonly then: readonly string[] }> = {
  'what stands is recorded once, however often it is seen': {
    when: async (at) => {
      for (let pass = 0; pass < 50; pass += 1) {
        await say(at, 'Held: by a', onDrain)
        await at.clock.advance(10_000)
      }
    },
    then: ['a Held: by a'],
  },
  'other words on a topic are recorded, and so is the way back: nobody is left with what is no longer so': {
    when: async (at) => {
      for (const words of ['Held: by a', 'Held: by b', 'Free: now', 'Held: by b']) await say(at, words, onDrain)
    },
    then: ['a Held: by a', 'a Held: by b', 'a Free: now', 'a Held: by b'],
  },
  'a state says what counts: figures in a note that change with every look are no news': {
    when: async (at) => {
      for (const left of [3, 2, 1]) await say(at, `Moving: ${left} left`, { ...onDrain, state: 'moving' })
    },
    then: ['a Moving: 3 left'],
  },
  'two slots of a group are two topics': {
    when: async (at) => {
      for (const slot of ['x', 'y', 'x']) await say(at, 'Bad: it', { group: 'problems', slot })
    },
    then: ['a Bad: it', 'a Bad: it'],
  },
  'an object that was rebuilt under its name hears it anew': {
    when: async (at) => {
      await say(at, 'Held: by a', onDrain)
      await say(at, 'Held: by a', onDrain, rebuilt)
    },
    then: ['a Held: by a', 'a Held: by a'],
  },
  'what was forgotten is new': {
    when: async (at) => {
      await say(at, 'Held: by a', onDrain)
      at.events.forget('drain')
      await say(at, 'Held: by a', onDrain)
    },
    then: ['a Held: by a', 'a Held: by a'],
  },
  'what a process before this one recorded is not recorded again after a start, and what differs is': {
    when: async (at) => {
      at.events.assume({ ...onDrain, state: 'held' })
      await say(at, 'Held: by a', { ...onDrain, state: 'held' })
      at.events.assume({ ...onDrain, state: 'free' })
      await say(at, 'Free: now', { ...onDrain, state: 'free' })
    },
    then: ['a Free: now'],
  },
  'the same is recorded again after the time that was given': {
    when: async (at) => {
      for (let minute = 0; minute < 11; minute += 1) {
        await say(at, 'Reverted: by b', { ...onDrain, againAfterMs: 300_000 })
        await at.clock.advance(60_000)
      }
    },
    then: ['a Reverted: by b', 'a Reverted: by b', 'a Reverted: by b'],
  },
  'what may pass is recorded when it stays, and not at all when it passes': {
    when: async (at) => {
      const passing = { ...onDrain, lastsMs: 60_000 }
      await say(at, 'Open: one', onDrain)
      for (const words of ['Unknown: 1', 'Unknown: 2']) await say(at, words, passing)
      await say(at, 'Open: one', onDrain)
      await at.clock.advance(70_000)
      for (const words of ['Unknown: 3', 'Unknown: 4']) {
        await say(at, words, passing)
        await at.clock.advance(60_000)
      }
      await say(at, 'Unknown: 4', passing)
    },
    then: ['a Open: one', 'a Unknown: 4'],
  },
  'without a topic a repetition within a minute is left out, and something else in between makes it new': {
    when: async (at) => {
      for (const words of ['Done: x', 'Done: x', 'Undone: x', 'Done: x']) await say(at, words)
      await at.clock.advance(60_000)
      await say(at, 'Done: x')
      await say(at, 'Done: x', undefined, other)
    },
    then: ['a Done: x', 'a Undone: x', 'a Done: x', 'a Done: x', 'b Done: x'],
  },
  'two reporters that use the same name for a topic do not take turns in it for ever': {
    when: async (at) => {
      const [first, second] = [at.events.scoped(), at.events.scoped()]
      for (let pass = 0; pass < 5; pass += 1) {
        await first.record(node, { type: 'Normal', reason: 'A', note: '' }, onDrain)
        await second.record(node, { type: 'Normal', reason: 'B', note: '' }, onDrain)
      }
    },
    then: ['a A: ', 'a B: '],
  },
  'what goes to and fro all day is recorded ten times in ten minutes, and what stands in the end is recorded': {
    when: async (at) => {
      for (let pass = 0; pass < 100; pass += 1) await say(at, pass % 2 === 0 ? 'On: x' : 'Off: x', onDrain)
      await at.clock.advance(600_000)
      await say(at, 'Off: x', onDrain)
    },
    then: [...Array.from({ length: 20 }, (_, pass) => (pass % 2 === 0 ? 'a On: x' : 'a Off: x')), 'a Off: x'],
  },
  'words that are new pass among words that come too often': {
    when: async (at) => {
      for (let pass = 0; pass < 100; pass += 1) await say(at, 'On: x', { ...onDrain, isNew: true })
      await say(at, 'Lost: all', onDrain)
    },
    then: [...Array.from({ length: 10 }, () => 'a On: x'), 'a Lost: all'],
  },
}

describe('the event recorder', () => {
  it.each(Object.entries(scenarios))('%s', async (_scenario, { when, then }) => {
    const at = desk()
    await when(at)
    expect(at.written).toEqual(then)
  })

  it('a refused event fails nobody, is heard of, and is tried again a minute later at the soonest', async () => {
    const at = desk()
    at.refusing.is = true
    for (let pass = 0; pass < 8; pass += 1) {
      await say(at, 'Held: by a', onDrain)
      await at.clock.advance(10_000)
    }
    expect([at.written, at.refused]).toEqual([[], ['a Held', 'a Held']])
    at.refusing.is = false
    await at.clock.advance(60_000)
    for (let pass = 0; pass < 3; pass += 1) await say(at, 'Held: by a', onDrain)
    expect(at.written).toEqual(['a Held: by a'])
  })

  it('of several that stand, those that came are recorded, those that stayed are not, and those that went may come again', async () => {
    const { events, written } = desk()
    const problem = (slot: string, about: EventSubject | undefined = node): Standing<string> => {
      return { slot, about, type: 'Warning', reason: 'Bad', note: slot }
    }
    for (const slots of ['x', 'xy', 'y', 'xy']) {
      await events.recordAll(
        'problems',
        Array.from(slots).map((slot) => problem(slot)),
      )
    }
    expect(written).toEqual(['a Bad: x', 'a Bad: y', 'a Bad: x'])
  })

  it('what stands of an object that is not at hand is recorded when it is', async () => {
    const { events, written } = desk()
    const held = { slot: 'x', type: 'Normal', reason: 'Held', note: 'by a' } as const
    for (const about of [undefined, node, undefined, node]) await events.recordAll('nodes', [{ ...held, about }])
    expect(written).toEqual(['a Held: by a'])
  })

  it('of several that are recorded as one it tells which are new', () => {
    const { events } = desk()
    const passes = [['x'], ['x', 'y'], ['y'], ['x', 'y']]
    expect(passes.map((slots) => events.newOf('problems', slots))).toEqual([['x'], ['y'], [], ['x']])
  })
})
