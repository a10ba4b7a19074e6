import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { type AppLockRecord, appLockRestMs as restMs } from '../../../ledger/rules/app-lock-record.ts'
import { appLocksInForce } from '../../../ledger/rules/app-locks.ts'
import type { AnnotatedBudget } from '../../../shared/app-lock-annotation.ts'
import { type AppLockMemory, decideAppLocks } from './decide-app-locks.ts'

const minute = 60_000
const policy = { maxTtlMs: 20 * minute, maxHoldMs: 40 * minute, maxPerNamespace: 2 }
const start = Date.UTC(2026, 0, 1)
const names = ['a', 'b', 'c'] as const
/** For how long no operator leads at most; what is not recorded yet can last for as much longer. */
const longestGap = 5

/** What an owner does to one budget; times are minutes from then. Most of it is meant to keep the lock for longer. */
type Deed =
  | { readonly since: number | null; readonly until: number }
  | { readonly stamp: number | null }
  /** Writes the managed fields by hand; null clears them. */
  | { readonly written: number | null }
  | { readonly text: string }
  | 'remove'
  | 'delete'

const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ since: fc.constant(0), until: fc.integer({ min: 8, max: 20 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      since: fc.option(fc.integer({ min: -30, max: 30 })),
      until: fc.integer({ min: -5, max: 200 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ stamp: fc.option(fc.integer({ min: -10, max: 200 })) }) },
  { weight: 8, arbitrary: fc.record({ written: fc.option(fc.integer({ min: -10, max: 200 })) }) },
  { weight: 2, arbitrary: fc.constantFrom('remove' as const, 'delete' as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      text: fc.constantFrom('{"until":"2099-01-01T00:00:00Z"}', '{"until":"2098-01-01T00:00:00Z"}', 'x'),
    }),
  },
)

const anyMoment = fc.record({
  name: fc.oneof({ weight: 8, arbitrary: fc.constant('a' as const) }, fc.constantFrom(...names)),
  after: fc.integer({ min: 0, max: 12 }),
  deed: anyDeed,
  /** For so many minutes nobody leads; then another operator does. */
  gap: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: longestGap })),
})

/** One namespace, with budgets as the API server keeps them, a ledger, and operators that come and go. */
class Namespace {
  nowMs = start
  readonly budgets = new Map<string, AnnotatedBudget>(names.map((name) => [name, { name, annotations: {} }]))
  #records: readonly AppLockRecord[] = []
  #memory: Map<string, AppLockMemory> | undefined
  #leaderlessUntilMs = start

  locks() {
    const budgets = [...this.budgets.values()]
    return appLocksInForce({ namespace: 'shop', budgets, records: this.#records, policy, nowMs: this.nowMs })
  }

  textOf(name: string): string | undefined {
    return this.budgets.get(name)?.annotations['cofferdam.io/lock']
  }

  /** The next one has led for a pass before it goes, too. */
  changeLeader(gap: number): void {
    if (this.#memory === undefined) return
    this.#memory = undefined
    this.#leaderlessUntilMs = this.nowMs + gap * minute
  }

  /** A pass of the operator that leads, if one does; how many records it changed. */
  keep(): number {
    if (this.nowMs < this.#leaderlessUntilMs) return 0
    const budgets = [...this.budgets.values()].map((budget) => ({ ...budget, uid: budget.name }))
    const seen = { nowMs: this.nowMs, policy, namespace: 'shop', budgets, records: this.#records, memory: this.#memory }
    const { steps } = decideAppLocks(seen)
    this.#memory = new Map(
      steps.flatMap(({ uid, memory }) => (uid === undefined || memory === undefined ? [] : [[uid, memory] as const])),
    )
    const changes = steps.flatMap(({ record }) => record ?? [])
    for (const { budget, after } of changes) {
      const others = this.#records.filter((record) => record.budget !== budget)
      this.#records = after === undefined ? others : [...others, after]
    }
    for (const { name, hasStamp } of steps)
      if (hasStamp) this.#annotate(name, { 'cofferdam.io/locked-since': undefined })
    return changes.length
  }

  act(name: string, deed: Deed): void {
    const when = (minutes: number) => rfc3339(this.nowMs + minutes * minute)
    if (deed === 'delete') this.budgets.delete(name)
    else if (deed === 'remove') this.#annotate(name, { 'cofferdam.io/lock': undefined })
    else if ('text' in deed) this.#annotate(name, { 'cofferdam.io/lock': deed.text })
    else if ('stamp' in deed)
      this.#annotate(name, { 'cofferdam.io/locked-since': deed.stamp === null ? undefined : when(deed.stamp) })
    else if ('written' in deed) {
      const { lockWrittenMs: _, ...budget } = this.budgets.get(name) ?? { name, annotations: {} }
      const forged = deed.written === null ? {} : { lockWrittenMs: this.nowMs + deed.written * minute }
      this.budgets.set(name, { ...budget, ...forged })
    } else {
      const since = deed.since === null ? {} : { since: when(deed.since) }
      this.#annotate(name, { 'cofferdam.io/lock': JSON.stringify({ ...since, until: when(deed.until) }) })
    }
  }

  /** As the API server does: a lock that changes is dated. */
  #annotate(name: string, changes: Readonly<Record<string, string | undefined>>): void {
    const before = this.budgets.get(name) ?? { name, annotations: {} }
    const annotations = Object.fromEntries(
      Object.entries({ ...before.annotations, ...changes }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    )
    const isSame = annotations['cofferdam.io/lock'] === before.annotations['cofferdam.io/lock']
    this.budgets.set(name, isSame ? { ...before, annotations } : { name, annotations, lockWrittenMs: this.nowMs })
  }
}

describe('owners’ locks', () => {
  it('whatever an owner does to a budget, and whoever leads, none is locked longer than allowed without a rest, nor by one text for longer than that may', () => {
    fc.assert(
      fc.property(fc.array(anyMoment, { maxLength: 40 }), (moments) => {
        const shop = new Namespace()
        const holds = new Map<string, { from: number; to: number }>()
        const texts = new Map<string, { text: string; from: number }>()
        const count = () => {
          const { nowMs } = shop
          const inForce = shop.locks()
          expect(inForce.size).toBeLessThanOrEqual(policy.maxPerNamespace)
          for (const name of names) {
            const text = shop.textOf(name)
            if (text === undefined) texts.delete(name)
            else if (texts.get(name)?.text !== text) texts.set(name, { text, from: nowMs })
            if (!inForce.has(name)) continue
            const before = holds.get(name)
            const from = before !== undefined && nowMs - before.to < restMs ? before.from : nowMs
            holds.set(name, { from, to: nowMs })
            expect(nowMs - from).toBeLessThan(policy.maxHoldMs + longestGap * minute)
            expect(nowMs - (texts.get(name)?.from ?? nowMs)).toBeLessThan(policy.maxTtlMs + longestGap * minute)
          }
        }
        const pass = () => {
          count()
          shop.keep()
          count()
          // Judged again at once, there is nothing left to record.
          expect(shop.keep()).toBe(0)
        }
        for (const { name, after, deed, gap } of moments) {
          if (gap > 0) shop.changeLeader(gap)
          for (let passed = 0; passed < after; passed += 1) {
            shop.nowMs += minute
            pass()
          }
          shop.act(name, deed)
          pass()
        }
      }),
      { numRuns: runsOf(300) },
    )
  })

  it('one that is within the limits always locks, from the second in which it is written until its end, whoever leads', () => {
    const anyUse = fc.record({
      lastsFor: fc.integer({ min: 1, max: 20 }),
      /** Removed after so many minutes; never, if it has ended by then. */
      removedAfter: fc.integer({ min: 1, max: 40 }),
      rest: fc.integer({ min: 10, max: 30 }),
      gap: fc.integer({ min: 0, max: longestGap }),
      /** For so many minutes of the rest nobody leads, unless the lock was removed meanwhile. */
      gapInRest: fc.integer({ min: 0, max: 30 }),
    })
    fc.assert(
      fc.property(fc.array(anyUse, { maxLength: 12 }), (uses) => {
        const shop = new Namespace()
        for (const { lastsFor, removedAfter, rest, gap, gapInRest } of uses) {
          shop.act('a', { since: 0, until: lastsFor })
          const end = Math.min(lastsFor, removedAfter)
          if (gap > 0) shop.changeLeader(gap)
          for (let passed = 0; passed < end; passed += 1) {
            expect(shop.locks().has('a')).toBe(true)
            shop.keep()
            expect(shop.locks().has('a')).toBe(true)
            shop.nowMs += minute
          }
          // That it was removed counts from when an operator sees it; its end is in the ledger.
          if (removedAfter < lastsFor) shop.act('a', 'remove')
          else shop.changeLeader(gapInRest)
          for (let passed = 0; passed < rest; passed += 1) {
            shop.keep()
            shop.nowMs += minute
          }
        }
      }),
      { numRuns: runsOf(200) },
    )
  })
})
