import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { emptyLedger, type Ledger } from '../ledger/rules/ledger.ts'
import { known, type Observed } from '../shared/observed.ts'
import { createLedgerSource } from './ledger-source.ts'

const cached = known({ ...emptyLedger, nextEpoch: 2 })
const live = known({ ...emptyLedger, nextEpoch: 3 })

function fixture({
  ageMs = 0,
  answer = async () => live as Observed<Ledger>,
  seen = [cached] as Observed<Ledger>[],
} = {}) {
  const clock = new VirtualClock()
  let reads = 0
  const view = { age: ageMs, ageMs: () => view.age, list: () => seen }
  const source = createLedgerSource({
    view,
    clock,
    read: (signal) => {
      reads += 1
      void signal
      return answer()
    },
  })
  return { clock, ledger: source.current, renewed: source.renewed, view, reads: () => reads }
}

describe('the ledger as the guard sees it', () => {
  it('is the copy at hand while that is young, and nobody is asked', () => {
    const { ledger, reads } = fixture({ ageMs: 2_000 })
    expect([ledger(), reads()]).toEqual([cached, 0])
  })

  it('is empty where there is no ledger', () => {
    expect(fixture({ seen: [] }).ledger()).toEqual(known(emptyLedger))
  })

  it('is asked for once by any number of askers, and the answer serves for two seconds', async () => {
    const { ledger, reads, clock } = fixture({ ageMs: 2_001 })
    expect(await Promise.all(Array.from({ length: 500 }, async () => ledger()))).toEqual(Array(500).fill(live))
    await clock.advance(2_000)
    expect([ledger(), reads()]).toEqual([live, 1])
    await clock.advance(1)
    await ledger()
    expect(reads()).toBe(2)
  })

  it('is unknown when the answer takes too long, and its reader is told to stop', async () => {
    const { ledger, clock } = fixture({ ageMs: 60_000, answer: () => new Promise(() => {}) })
    const asked = Promise.resolve(ledger())
    await clock.advance(1_000)
    expect(await asked).toEqual({ known: false, why: 'the API server did not give the ledger in time' })
  })

  it('is unknown after a failure, and the server is left alone for a moment', async () => {
    const { ledger, clock, reads } = fixture({ ageMs: 60_000, answer: () => Promise.reject(new Error('refused')) })
    expect(await ledger()).toEqual({ known: false, why: 'the ledger could not be read: refused' })
    expect([ledger(), reads()]).toEqual([{ known: false, why: 'the ledger could not be read a moment ago' }, 1])
    await clock.advance(250)
    await ledger()
    expect(reads()).toBe(2)
  })

  it('is read again for whoever knows more, once for all who ask meanwhile, and not again at once', async () => {
    const { renewed, clock, reads } = fixture()
    const first = renewed()
    await clock.advance(1)
    const others = [renewed(), renewed()]
    expect([await first, ...(await Promise.all(others))].map((each) => each.known)).toEqual([true, false, false])
    expect(reads()).toBe(1)
    await clock.advance(250)
    expect([await renewed(), reads()]).toEqual([live, 2])
  })

  it('is read anew for whoever asks while an older read is under way: that one may not know yet', async () => {
    let release = () => {}
    const held = new Promise<Observed<Ledger>>((resolve) => {
      release = () => resolve(cached)
    })
    const answers = [held, Promise.resolve(live)]
    const { ledger, renewed, clock, reads } = fixture({ ageMs: 60_000, answer: () => answers.shift() ?? held })
    const old = Promise.resolve(ledger())
    await clock.advance(300)
    const fresh = renewed()
    release()
    expect([await old, await fresh, reads()]).toEqual([cached, live, 2])
  })
})
