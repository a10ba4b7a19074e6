import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { appLocksInForce, lockableBudget } from '../../../ledger/rules/app-locks.ts'
import { type AppLockMemory, decideAppLocks } from './decide-app-locks.ts'

const minute = 60_000
const policy = { maxTtlMs: 20 * minute, maxHoldMs: 40 * minute, maxPerNamespace: 2 }
const restMs = 10 * minute
const start = Date.UTC(2026, 0, 1)
const names = ['a', 'b', 'c'] as const

/** What an owner does to one budget; times are minutes from then. Most of it is meant to keep the lock for longer. */
const deed = fc.record({
  name: fc.oneof({ weight: 8, arbitrary: fc.constant('a' as const) }, fc.constantFrom(...names)),
  after: fc.integer({ min: 0, max: 12 }),
  what: fc.oneof(
    { weight: 4, arbitrary: fc.record({ since: fc.constant(0), until: fc.integer({ min: 8, max: 20 }) }) },
    fc.record({ since: fc.option(fc.integer({ min: -30, max: 30 })), until: fc.integer({ min: -5, max: 200 }) }),
    { weight: 2, arbitrary: fc.record({ stamp: fc.option(fc.integer({ min: -10, max: 200 })) }) },
    fc.constant('remove' as const),
    fc.constant('remove both' as const),
    fc.string().map((text) => ({ text })),
  ),
})

function applyDeed(annotations: Record<string, string>, { what }: { what: unknown }, nowMs: number) {
  const { 'cofferdam.io/lock': lock, 'cofferdam.io/locked-since': stamp, ...rest } = annotations
  const when = (minutes: number) => rfc3339(nowMs + minutes * minute)
  const withStamp = stamp === undefined ? {} : { 'cofferdam.io/locked-since': stamp }
  if (what === 'remove both') return rest
  if (what === 'remove') return { ...rest, ...withStamp }
  const reported = what as { since?: number | null; until?: number; stamp?: number | null; text?: string }
  if (reported.text !== undefined) return { ...annotations, 'cofferdam.io/lock': reported.text }
  if (reported.until !== undefined) {
    const since = reported.since === null || reported.since === undefined ? {} : { since: when(reported.since) }
    return { ...annotations, 'cofferdam.io/lock': JSON.stringify({ ...since, until: when(reported.until) }) }
  }
  const withLock = lock === undefined ? {} : { 'cofferdam.io/lock': lock }
  const moved =
    reported.stamp === null || reported.stamp === undefined ? {} : { 'cofferdam.io/locked-since': when(reported.stamp) }
  return { ...rest, ...withLock, ...moved }
}

it('whatever an owner does to the annotations, nothing is thrown and no budget is locked longer than allowed without a rest', () => {
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 40 }), (deeds) => {
      const annotations = new Map<string, Record<string, string>>(names.map((name) => [name, {}]))
      const window = new Map<string, { from: number; to: number }>()
      let memory: Map<string, AppLockMemory> | undefined
      const look = (nowMs: number) => {
        const budgets = names.map((name) => ({ name, uid: name, annotations: annotations.get(name) ?? {} }))
        const { steps } = decideAppLocks({ nowMs, policy, restMs, budgets, memory })
        memory = new Map(steps.flatMap((step) => (step.memory === undefined ? [] : [[step.uid, step.memory]])))
        for (const { name, stamp } of steps) {
          if (stamp === undefined) continue
          const { 'cofferdam.io/locked-since': _, ...rest } = annotations.get(name) ?? {}
          annotations.set(name, stamp === null ? rest : { ...rest, 'cofferdam.io/locked-since': stamp })
        }
      }
      const count = (nowMs: number) => {
        const lockable = names.flatMap(
          (name) => lockableBudget({ name, annotations: annotations.get(name) ?? {} }) ?? [],
        )
        const inForce = appLocksInForce(lockable, policy, nowMs)
        expect(inForce.size).toBeLessThanOrEqual(policy.maxPerNamespace)
        for (const name of inForce.keys()) {
          const before = window.get(name)
          const goesOn = before !== undefined && nowMs - before.to < restMs
          window.set(name, { from: goesOn ? before.from : nowMs, to: nowMs })
          expect(nowMs - (goesOn ? before.from : nowMs)).toBeLessThan(policy.maxHoldMs)
        }
      }
      let nowMs = start
      for (const { name, after, what } of deeds) {
        for (let passed = 0; passed < after; passed += 1) {
          nowMs += minute
          look(nowMs)
          count(nowMs)
        }
        annotations.set(name, applyDeed(annotations.get(name) ?? {}, { what }, nowMs))
        look(nowMs)
        count(nowMs)
        // Looked at again at once, there is nothing left to do.
        const still = new Map(annotations)
        look(nowMs)
        expect(annotations).toEqual(still)
      }
    }),
    { numRuns: runsOf(300) },
  )
})
