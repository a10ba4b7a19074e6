import { createHash } from 'node:crypto'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import { drainPolicies } from '@cofferdam/simulator/world/longhorn/drain-policies.ts'
import { expect, it } from 'vitest'
import { addedWork, widerFromSeed } from '../deeds/added-work.ts'
import { addedFaults } from '../deeds/fault-kinds.ts'
import { drawStory } from './draw-story.ts'

const hashes: Readonly<Record<string, { readonly first: number; readonly count: number; readonly hash: string }>> = {
  'the stories of the first 3,000 seeds stay what they were, or the cases that are named after them tell others': {
    first: 1,
    count: 3_000,
    hash: 'adf03c0ef53e8990',
  },
  'so do those of the first seeds with later faults: a kind that comes after these needs a limit of its own': {
    first: 10_000,
    count: 1_000,
    hash: '937b03c0cfd3febf',
  },
  'and those of the first seeds with the latest ones': {
    first: 100_000,
    count: 1_000,
    hash: 'ec3a2b7724b51370',
  },
  'those with a balancer, and with a restored etcd': { first: 299_000, count: 2_000, hash: 'bc9a06c348662a73' },
  'those with limits of memory and files, up to the last before clusters are wider': {
    first: 599_000,
    count: 1_000,
    hash: '386bda9239154fcd',
  },
}

it.each(Object.entries(hashes))('%s', (_, { first, count, hash }) => {
  const whole = createHash('sha256')
  for (let seed = first; seed < first + count; seed += 1)
    for (const isShort of [false, true]) whole.update(JSON.stringify(drawStory(seed, { isShort })))
  expect(whole.digest('hex').slice(0, 16)).toBe(hash)
})

it.each(addedFaults)(
  'every seed from $fromSeed on whose cluster it fits has one of the $name, and each kind befalls somebody within a hundred',
  ({ fromSeed, kinds }) => {
    for (const isShort of [false, true]) {
      const drawn = new Set<string>()
      for (let seed = fromSeed; seed < fromSeed + 100; seed += 1) {
        const { faults, shape } = drawStory(seed, { isShort })
        const added = faults.filter(({ kind }) => Object.hasOwn(kinds, kind))
        const isPossible = Object.values(kinds).some(({ fits }) => fits(shape))
        expect(added.length > 0, `seed ${seed}`).toBe(isPossible)
        for (const { kind } of added) drawn.add(kind)
      }
      expect([...drawn].sort()).toEqual(Object.keys(kinds).sort())
    }
  },
)

it.each(addedWork)(
  'every seed from $fromSeed on has some of the $name, and each kind of it is done within a hundred',
  ({ fromSeed, kinds }) => {
    for (const isShort of [false, true]) {
      const drawn = new Set<string>()
      for (let seed = fromSeed; seed < fromSeed + 100; seed += 1) {
        const added = drawStory(seed, { isShort }).work.filter(({ kind }) => Object.hasOwn(kinds, kind))
        expect(added.length, `seed ${seed}`).toBeGreaterThan(0)
        for (const { kind } of added) drawn.add(kind)
      }
      expect([...drawn].sort()).toEqual(Object.keys(kinds).sort())
    }
  },
)

it('among wider clusters are all modes and policies of Longhorn, the other daemons of Ceph and the tools of others', () => {
  const files = Array.from({ length: 300 }, (_, index) => drawStory(widerFromSeed + index).shape)
  const text = JSON.stringify(files)
  const words = [...drainPolicies.map((policy) => `"drainPolicy":"${policy}"`), '"manage":"guide"', '"manage":"hold"']
  const others = [
    '"trigger":"drain"',
    '"surplus":"remove"',
    'rebootPolicy',
    'filesystems',
    'objectStores',
    'rbdMirrors',
  ]
  for (const word of [...words, ...others, 'node-maintenance', 'machine-config']) expect(text).toContain(word)
  for (const { file } of files) parseClusterFile(JSON.stringify(file), 'the story')
})
