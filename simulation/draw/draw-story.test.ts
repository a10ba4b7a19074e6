import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { laterFaultKinds, laterFaultsFrom } from '../deeds/fault-kinds.ts'
import { drawStory } from './draw-story.ts'

it('the stories of the first 3,000 seeds stay what they were, or the cases that are named after them tell others', () => {
  const hash = createHash('sha256')
  for (let seed = 1; seed <= 3_000; seed += 1)
    for (const isShort of [false, true]) hash.update(JSON.stringify(drawStory(seed, { isShort })))
  expect(hash.digest('hex').slice(0, 16)).toBe('adf03c0ef53e8990')
})

it('every later seed has a later fault, and each kind of them befalls somebody within a hundred', () => {
  for (const isShort of [false, true]) {
    const drawn = new Set<string>()
    for (let seed = laterFaultsFrom; seed < laterFaultsFrom + 100; seed += 1) {
      const later = drawStory(seed, { isShort }).faults.filter(({ kind }) => Object.hasOwn(laterFaultKinds, kind))
      expect(later.length, `seed ${seed}`).toBeGreaterThan(0)
      for (const { kind } of later) drawn.add(kind)
    }
    expect([...drawn].sort()).toEqual(Object.keys(laterFaultKinds).sort())
  }
})
