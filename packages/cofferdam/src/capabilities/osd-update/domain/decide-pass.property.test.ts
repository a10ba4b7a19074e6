import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exampleCluster } from './testing/example-cluster.ts'
import { PassModel } from './testing/pass-model.ts'

function liveThrough(seed: number): PassModel {
  const random = seededRandom(seed)
  const next = () => random.next()
  const below = (limit: number) => Math.floor(next() * limit)
  const map = exampleCluster(
    {
      hosts: 3 + below(3),
      osdsPerHost: 1 + below(3),
      pools: [{ size: 3, minSize: below(2) === 0 ? 2 : 1, pgCount: 1 + below(16) }],
    },
    next,
  )
  const model = new PassModel(map, next, {
    maxInParallel: { kind: 'count', count: 1 + below(4) },
    pace: below(2) === 0 ? 'rolling' : 'barrier',
  })
  for (let pass = 0; pass < 25; pass += 1) {
    model.pass()
    model.live()
  }
  return model
}

it('a pass that dies after any step has started nothing but what is held, on record and agreed by Ceph, and the next one goes on', () => {
  const kinds = new Set<string>()
  let starts = 0
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
      const model = liveThrough(seed)
      starts += model.starts
      for (const step of model.performed) kinds.add(step)
      expect(model.broken).toEqual([])
    }),
    { numRuns: 60 },
  )
  expect(starts).toBeGreaterThan(150)
  expect([...kinds].sort()).toEqual([
    'ask map',
    'ask ok-to-stop',
    'ask osd-versions',
    'ask trial',
    'hold acquire',
    'hold keep',
    'hold release',
    'report decision',
    'write deployments',
    'write flags',
    'write record',
    'write version-labels',
  ])
})
