import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Clock, sleep, timestamp } from './clock.ts'
import { LeaderLease, type LeaseRecord, type LeaseStore } from './leader-lease.ts'
import { seededRandom } from './random.ts'

/** The lease as the API server keeps it, with a switch for each way it can fail a candidate. */
function sharedLease() {
  let version = 0
  let record: LeaseRecord | undefined
  let reads = 0
  let elsewhere = 0
  return {
    /** Others write, and the lease stays as it is. */
    writeElsewhere() {
      elsewhere += 10
    },
    current: () => record,
    reads: () => reads,
    save: () => ({ version, record }),
    /** As whoever restores etcd from a backup. */
    restore(saved: { readonly version: number; readonly record: LeaseRecord | undefined }) {
      version = saved.version
      elsewhere = 0
      record = saved.record
    },
    take(holder: string) {
      version += 1
      record = { ...(record as LeaseRecord), holder }
    },
    connect(): LeaseStore & { mode: 'answers' | 'fails' | 'hangs' } {
      const store: LeaseStore & { mode: 'answers' | 'fails' | 'hangs' } = {
        mode: 'answers',
        async read() {
          await answer(store.mode)
          reads += 1
          return { lease: record && { record, version: String(version) }, version: String(version + elsewhere) }
        },
        async write(next, expected) {
          await answer(store.mode)
          if ((record === undefined ? undefined : String(version)) !== expected) return undefined
          version += 1
          record = next
          return String(version)
        },
      }
      return store
    },
  }
}

async function answer(mode: 'answers' | 'fails' | 'hangs'): Promise<void> {
  if (mode === 'fails') throw new Error('503')
  if (mode === 'hangs') await new Promise<never>(() => {})
}

function candidate(name: string, clock: Clock, lease: ReturnType<typeof sharedLease>) {
  const store = lease.connect()
  const stop = new AbortController()
  const state = { leading: false }
  const elector = new LeaderLease({
    store,
    identity: name,
    clock,
    random: seededRandom(name.length),
    timestamp: () => timestamp(clock),
  })
  const ended = elector.run(async (signal) => {
    state.leading = true
    while (!signal.aborted) await sleep(clock, 60_000, signal)
    state.leading = false
  }, stop.signal)
  return { name, store, state, elector, stop: () => stop.abort(), ended }
}

describe('a leader lease', () => {
  it('is held by the first candidate as long as it renews; the second waits', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    const [a, b] = [candidate('a', clock, lease), candidate('bb', clock, lease)]
    await clock.advance(600_000)
    expect([a.state.leading, b.state.leading, lease.current()?.transitions]).toEqual([true, false, 0])
  })

  it('is renewed without being read, or every leader would ask the API server twice as often as it must', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    candidate('a', clock, lease)
    await clock.advance(600_000)
    expect([lease.reads(), lease.current()?.renewTime]).toEqual([1, timestamp(clock)])
  })

  it('is read again when somebody else has written it, and the leader stops: two would lead', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    const a = candidate('a', clock, lease)
    await clock.advance(30_000)
    lease.take('bb')
    await clock.advance(2_000)
    expect([a.state.leading, a.elector.mayAct(), lease.current()?.holder]).toEqual([false, false, 'bb'])
  })

  it('goes to the next candidate within one retry when the leader stops in good order', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    const [a, b] = [candidate('a', clock, lease), candidate('bb', clock, lease)]
    await clock.advance(30_000)
    a.stop()
    await clock.advance(3_500)
    expect([a.state.leading, b.state.leading, lease.current()?.holder]).toEqual([false, true, 'bb'])
  })

  it('goes to the next candidate a lease after a leader fell silent, and the silent one has stopped by then', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    const [a, b] = [candidate('a', clock, lease), candidate('bb', clock, lease)]
    await clock.advance(30_000)
    a.store.mode = 'hangs'
    await clock.advance(12_000)
    expect([a.state.leading, a.elector.mayAct(), b.state.leading]).toEqual([false, false, false])
    await clock.advance(8_000)
    expect([b.state.leading, lease.current()?.transitions]).toEqual([true, 1])
  })

  it('is not taken over because a stored time looks old: only changes that were seen count', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    const ancient = '2001-01-01T00:00:00Z'
    const foreign = { holder: 'x', durationSeconds: 15, acquireTime: ancient, renewTime: ancient, transitions: 3 }
    await lease.connect().write(foreign, undefined, new AbortController().signal)
    const b = candidate('bb', clock, lease)
    await clock.advance(14_000)
    expect(b.state.leading).toBe(false)
    await clock.advance(5_000)
    expect([b.state.leading, lease.current()?.transitions]).toEqual([true, 4])
  })

  it('a leader whose renewals fail keeps the lead until its deadline and then stops acting', async () => {
    const clock = new VirtualClock()
    const a = candidate('a', clock, sharedLease())
    await clock.advance(10_000)
    a.store.mode = 'fails'
    await clock.advance(5_000)
    expect(a.elector.mayAct()).toBe(true)
    await clock.advance(7_000)
    expect([a.elector.mayAct(), a.state.leading]).toEqual([false, false])
  })
})

describe('a clock that somebody sets', () => {
  /** The clock of one machine, which can be set; time passes as for all others. */
  function machineClock(time: VirtualClock) {
    const set = { ms: 0 }
    const clock: Clock = { now: () => time.now() + set.ms, elapsed: () => time.now(), after: time.after.bind(time) }
    return { clock, set }
  }

  it('turned back by an hour while the server is out of reach, it lets nobody act beyond the deadline: two would have acted for that hour', async () => {
    const time = new VirtualClock()
    const { clock, set } = machineClock(time)
    const lease = sharedLease()
    const [a, b] = [candidate('a', clock, lease), candidate('bb', time, lease)]
    await time.advance(30_000)
    a.store.mode = 'hangs'
    set.ms = -3_600_000
    await time.advance(12_000)
    expect([a.elector.mayAct(), a.state.leading]).toEqual([false, false])
    await time.advance(8_000)
    expect(b.state.leading).toBe(true)
  })

  it('put forward by an hour, it lets a candidate take nothing over from a leader that renews', async () => {
    const time = new VirtualClock()
    const { clock, set } = machineClock(time)
    const lease = sharedLease()
    const [a, b] = [candidate('a', time, lease), candidate('bb', clock, lease)]
    await time.advance(30_000)
    set.ms = 3_600_000
    await time.advance(30_000)
    expect([a.state.leading, b.state.leading]).toEqual([true, false])
  })

  it('that was put forward while the machine was suspended ends the lead: it may have been away for as long', async () => {
    const time = new VirtualClock()
    const { clock, set } = machineClock(time)
    const a = candidate('a', clock, sharedLease())
    await time.advance(30_000)
    set.ms = 3_600_000
    expect(a.elector.mayAct()).toBe(false)
  })
})

describe('a lease that has an older version than before: etcd was restored from a backup', () => {
  it('ends whoever leads within one renewal, and whoever waits: what they have read may be of a time that never was', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    const both = [candidate('a', clock, lease), candidate('bb', clock, lease)]
    await clock.advance(10_000)
    const saved = lease.save()
    await clock.advance(60_000)
    lease.restore(saved)
    const ended: string[] = []
    for (const { name, ended: end } of both) void end.then(() => ended.push(name))
    await clock.advance(3_000)
    expect([ended.sort(), both.map(({ elector, state }) => [elector.mayAct(), state.leading])]).toEqual([
      ['a', 'bb'],
      [
        [false, false],
        [false, false],
      ],
    ])
  })

  it('ends who waits also when the lease was written by nobody since the backup: what it has read beside it is of after that', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    const gone = candidate('a', clock, lease)
    await clock.advance(10_000)
    gone.store.mode = 'hangs'
    const saved = lease.save()
    const waits = candidate('bb', clock, lease)
    lease.writeElsewhere()
    await clock.advance(3_000)
    lease.restore(saved)
    let hasEnded = false
    void waits.ended.then(() => {
      hasEnded = true
    })
    await clock.advance(3_000)
    expect([hasEnded, waits.state.leading]).toEqual([true, false])
  })

  it('is none that was deleted: one that is made anew has a later version, and the leader leads on', async () => {
    const clock = new VirtualClock()
    const lease = sharedLease()
    const a = candidate('a', clock, lease)
    await clock.advance(10_000)
    lease.restore({ version: lease.save().version + 1, record: undefined })
    await clock.advance(60_000)
    expect([a.elector.mayAct(), lease.current()?.holder]).toEqual([true, 'a'])
  })
})

it('two candidates never both may act, however their connections fail', async () => {
  const fault = fc.record({
    who: fc.constantFrom(0, 1, 2),
    mode: fc.constantFrom('answers' as const, 'fails' as const, 'hangs' as const),
    forMs: fc.integer({ min: 100, max: 30_000 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 25 }), async (faults) => {
      const clock = new VirtualClock()
      const lease = sharedLease()
      const all = ['a', 'bb', 'ccc'].map((name) => candidate(name, clock, lease))
      for (const { who, mode, forMs } of faults) {
        ;(all[who] as (typeof all)[number]).store.mode = mode
        for (let left = forMs; left > 0; left -= 500) {
          await clock.advance(Math.min(500, left))
          expect(all.filter(({ elector }) => elector.mayAct()).length).toBeLessThanOrEqual(1)
        }
      }
      for (const each of all) each.stop()
      await clock.advance(10_000)
    }),
    { numRuns: 60 },
  )
})
