import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { laterFaultKinds, laterFaultsFrom, latestFaultKinds, latestFaultsFrom } from '../deeds/fault-kinds.ts'
import { drawStory } from './draw-story.ts'

const hashes: Readonly<Record<string, { readonly first: number; readonly count: number; readonly hash: string }>> = {
  'the stories of the first 3,000 seeds stay what they were, or the cases that are named after them tell others': {
    first: 1,
    count: 3_000,
    hash: 'adf03c0ef53e8990',
  },
  'so do those of the first seeds with later faults: a kind that comes after these needs a limit of its own': {
    first: laterFaultsFrom,
    count: 1_000,
    hash: '937b03c0cfd3febf',
  },
  'and those of the first seeds with the latest ones': {
    first: latestFaultsFrom,
    count: 1_000,
    hash: 'ec3a2b7724b51370',
  },
}

it.each(Object.entries(hashes))('%s', (_, { first, count, hash }) => {
  const whole = createHash('sha256')
  for (let seed = first; seed < first + count; seed += 1)
    for (const isShort of [false, true]) whole.update(JSON.stringify(drawStory(seed, { isShort })))
  expect(whole.digest('hex').slice(0, 16)).toBe(hash)
})

const additions: Readonly<Record<string, readonly [number, object]>> = {
  'every later seed has a later fault, and each kind of them befalls somebody within a hundred': [
    laterFaultsFrom,
    laterFaultKinds,
  ],
  'so has every one of the latest': [latestFaultsFrom, latestFaultKinds],
}

it.each(Object.entries(additions))('%s', (_, [first, kinds]) => {
  for (const isShort of [false, true]) {
    const drawn = new Set<string>()
    for (let seed = first; seed < first + 100; seed += 1) {
      const added = drawStory(seed, { isShort }).faults.filter(({ kind }) => Object.hasOwn(kinds, kind))
      expect(added.length, `seed ${seed}`).toBeGreaterThan(0)
      for (const { kind } of added) drawn.add(kind)
    }
    expect([...drawn].sort()).toEqual(Object.keys(kinds).sort())
  }
})
