import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { findMutants } from './find-mutants.ts'
import { describeChange } from './mutant.ts'
import { MutantSwitch } from './mutant-switch.ts'
import { weaveMutants } from './weave-mutants.ts'

const source = `function count(list, most) {
  const seen = []
  const add = (one) => seen.push(one)
  for (const one of list) {
    if (one > 0 && seen.length < most) add(one)
  }
  seen.push(9)
  return seen.length
}`
const mutants = findMutants(source).map((mutant, at) => ({ ...mutant, id: at + 1 }))
const chosen = new MutantSwitch()
type Count = (list: readonly number[], most: number) => unknown
const globals: Record<string, unknown> = { __cofferdamMutant: chosen.isActive }
globals['globalThis'] = globals
const count = runInNewContext(`${weaveMutants(source, mutants)}\ncount`, globals) as Count

it('woven code does what it did as long as no mutant is active, and each mutant does what it says', async () => {
  const ask = () => count([1, -2, 3, 4], 2)
  const { passed } = await chosen.observe(ask)
  const said: Record<string, unknown> = {}
  for (const mutant of mutants) {
    await chosen.activate(mutant.id, 0, () => {
      said[describeChange(mutant)] = ask()
    })
  }
  expect(ask()).toBe(3)
  expect(passed.length).toBe(mutants.length)
  expect(said).toEqual({
    'one > 0 && seen.length < most → true': 5,
    'one > 0 && seen.length < most → false': 1,
    'one > 0 && seen.length < most → one > 0 || seen.length < most': 5,
    'one > 0 && seen.length < most → one > 0': 4,
    'one > 0 && seen.length < most → seen.length < most': 3,
    'one > 0 → one >= 0': 3,
    'one > 0 → one <= 0': 2,
    '0 → 1': 3,
    'seen.length < most → seen.length <= most': 4,
    'seen.length < most → seen.length >= most': 1,
    'add(one) → undefined': 1,
    'seen.push(9) → undefined': 2,
    '9 → 10': 3,
    'seen.length → undefined': undefined,
  })
})

it('a mutant that does not end is stopped, or the run would never end either', async () => {
  const endless = async () =>
    chosen.activate(1, 0, () => {
      for (;;) chosen.isActive(2)
    })
  await expect(endless()).rejects.toThrow('mutant 1 does not end')
})

it('what was remembered without a mutant is unknown with one, or no mutant behind a memory could be noticed', async () => {
  const Remembers = chosen.forgetfulWeakMap()
  const memory = new Remembers<object, number>()
  const key = {}
  await chosen.observe(() => memory.set(key, 1))
  const before = memory.get(key)
  await chosen.activate(1, 0, () => expect([before, memory.get(key), memory.has(key)]).toEqual([1, undefined, false]))
})
