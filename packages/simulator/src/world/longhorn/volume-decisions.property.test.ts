import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../test/property-runs.ts'
import { decideDeletion } from './volume-decisions.ts'
import { isHealthy, type ReplicaFacts, type VolumeFacts } from './volume-health.ts'

const replica = fc.record({
  node: fc.constantFrom('a', 'b', 'c'),
  zone: fc.constantFrom('', 'x', 'y'),
  isPlaced: fc.boolean(),
  isActive: fc.boolean(),
  isEvicting: fc.boolean(),
  isDeleting: fc.boolean(),
  isUsed: fc.boolean(),
  isFailed: fc.boolean(),
  failedAtMs: fc.nat(4_000_000),
  hasData: fc.boolean(),
  retryCount: fc.nat(6),
  mode: fc.constantFrom('RW', 'WO', 'ERR', undefined),
  canRun: fc.boolean(),
})

const volumes: fc.Arbitrary<VolumeFacts> = fc
  .record({
    isAttached: fc.boolean(),
    isMigrating: fc.boolean(),
    mayReuse: fc.boolean(),
    wantedCount: fc.nat(4),
    localNode: fc.constantFrom('a', undefined),
    balance: fc.constantFrom('disabled', 'least-effort', 'best-effort'),
    replicas: fc.array(replica, { maxLength: 6 }),
  })
  .map((facts) => ({
    ...facts,
    replicas: facts.replicas.map((one, index): ReplicaFacts => ({ ...one, name: `r${index}` })),
  }))

it('deleting again and again, as long as something may be deleted, never takes the last healthy copy', () => {
  fc.assert(
    fc.property(volumes, (facts) => {
      const healthyIn = (replicas: readonly ReplicaFacts[]) =>
        replicas.filter((one) => isHealthy(one, facts.isAttached)).length
      const before = healthyIn(facts.replicas)
      let { replicas } = facts
      for (;;) {
        const name = decideDeletion({ ...facts, replicas }, { nowMs: 4_000_000, staleMs: 1_800_000 })
        if (name === undefined) break
        const isGone = replicas.find((one) => one.name === name)
        replicas = replicas.filter((one) => one.name !== name)
        // A healthy copy goes only because it was asked to or is one too many, and leaves as many as are wanted.
        if (isGone !== undefined && isHealthy(isGone, facts.isAttached)) {
          const isSurplus = facts.balance !== 'disabled' || facts.localNode !== undefined
          expect(isGone.isEvicting || isSurplus).toBe(true)
          expect(healthyIn(replicas)).toBeGreaterThanOrEqual(facts.wantedCount)
        }
      }
      if (before > 0) expect(healthyIn(replicas)).toBeGreaterThan(0)
    }),
    { numRuns: runsOf(2_000) },
  )
})
