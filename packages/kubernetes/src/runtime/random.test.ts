import { describe, expect, it } from 'vitest'
import { type Random, realRandom, seededRandom } from './random.ts'

const draw = (random: Random, count = 5) => Array.from({ length: count }, () => random.next())

describe('a stream of its own', () => {
  it('gives the same whatever the others have drawn, so that a new actor changes nobody else’s history', () => {
    const quiet = seededRandom(7)
    const busy = seededRandom(7)
    draw(busy, 100)
    draw(busy.stream('newcomer'), 100)
    expect(draw(busy.stream('scheduler'))).toEqual(draw(quiet.stream('scheduler')))
    expect(draw(busy.stream('kubelet').stream('node-1'))).toEqual(draw(quiet.stream('kubelet').stream('node-1')))
  })

  it('takes nothing from whom it was derived', () => {
    const derived = seededRandom(7)
    draw(derived.stream('scheduler'))
    expect(draw(derived)).toEqual(draw(seededRandom(7)))
  })

  it('goes on where it was when its name comes back, so that one who is started again does not repeat his names', () => {
    const whole = draw(seededRandom(7).stream('operator'), 10)
    const random = seededRandom(7)
    expect([...draw(random.stream('operator')), ...draw(random.stream('operator'))]).toEqual(whole)
  })

  it('is another one for another name, another seed and another parent', () => {
    const streams = [
      seededRandom(7),
      seededRandom(7).stream('a'),
      seededRandom(7).stream('b'),
      seededRandom(7).stream(''),
      seededRandom(7).stream('a').stream('b'),
      seededRandom(7).stream('b').stream('a'),
      seededRandom(7).stream('ab'),
      seededRandom(8).stream('a'),
    ]
    const drawn = streams.flatMap((random) => draw(random, 1_000))
    // 8,000 draws of 32 bits: some pair of them is equal in one run of a hundred, and in this one it is not.
    expect(new Set(drawn).size).toBe(drawn.length)
  })

  it('is spread evenly also over first draws of names that differ in a number', () => {
    const firsts = Array.from({ length: 10_000 }, (_, number) => seededRandom(1).stream(`node-${number}`).next())
    const shares = Array.from(
      { length: 10 },
      (_, tenth) => firsts.filter((value) => ((value * 10) | 0) === tenth).length,
    )
    for (const share of shares) expect(share).toBeGreaterThan(900)
  })

  it('is chance like any other where chance is real', () => {
    expect(realRandom.stream('operator')).toBe(realRandom)
  })
})
