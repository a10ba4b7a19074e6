import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../test/property-runs.ts'
import { type Claim, doClaimsConflict } from './claim.ts'
import {
  adopt,
  breakLocks,
  emptyLedger,
  enqueue,
  entriesOf,
  grant,
  intend,
  type Ledger,
  orphan,
  purge,
  raiseEpoch,
  release,
  releaseKeys,
  renew,
  stepBack,
  withdraw,
} from './ledger.ts'
import { isInLine } from './queue.ts'

const requests = ['R1', 'R2', 'R3', 'R4'] as const
const now = '2026-01-01T00:00:00Z'

const places = 2

const anyClaim: fc.Arbitrary<Claim> = fc.oneof(
  fc.constantFrom('node/a', 'node/b', 'pdb/shop/web', 'pdb/shop/db').map((key) => ({ key, uid: key, scope: '' })),
  fc.constantFrom('zone-a', 'zone-b', '').map((scope) => ({ key: 'storage/rook/ceph', uid: 'ceph', scope })),
  fc.constant({ key: 'limit/workers', uid: '', scope: '', most: places }),
)

const anyStep = fc.record({
  kind: fc.constantFrom(
    ...(['grant', 'grant', 'grant', 'intend', 'renew', 'release', 'release'] as const),
    ...(['adopt', 'orphan', 'purge', 'withdraw', 'break', 'raise', 'queue', 'stepBack', 'releaseKeys'] as const),
  ),
  requestId: fc.constantFrom(...requests),
  holder: fc.constantFrom('x1', 'x2'),
  claims: fc.array(anyClaim, { minLength: 1, maxLength: 4 }),
  aside: fc.constantFrom(undefined, 'Once' as const, 'Always' as const),
})

type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never

interface Told {
  readonly ledger: Ledger
  /** The newest epoch that each request was given, and who has it. */
  readonly current: ReadonlyMap<string, number>
  readonly given: readonly { readonly requestId: string; readonly epoch: number }[]
}

function frozen(ledger: Ledger): Ledger {
  for (const list of [ledger.entries, ledger.tickets, ledger.broken]) {
    for (const item of list) Object.freeze(item)
    Object.freeze(list)
  }
  return Object.freeze(ledger)
}

function given(told: Told, requestId: string, answer: { readonly epoch: number; readonly ledger: Ledger }): Told {
  const isNew = !told.given.some(({ epoch }) => epoch === answer.epoch)
  if (isNew) for (const { epoch } of told.given) expect(answer.epoch).toBeGreaterThan(epoch)
  else expect(told.current.get(requestId)).toBe(answer.epoch)
  return {
    ledger: answer.ledger,
    current: new Map(told.current).set(requestId, answer.epoch),
    given: isNew ? [...told.given, { requestId, epoch: answer.epoch }] : told.given,
  }
}

function take(told: Told, { requestId, holder, claims }: Step): Told {
  const before = told.ledger
  const answer = grant(before, { requestId, holder, claims, now })
  const again = grant(answer.ledger, { requestId, holder, claims, now })
  expect(again.granted).toBe(answer.granted)
  expect(again.ledger).toBe(answer.ledger)
  const held = entriesOf(answer.ledger, requestId)
  if (!answer.granted) {
    expect(answer.obstacles.length).toBeGreaterThan(0)
    const hadBegun = entriesOf(before, requestId).some(({ state }) => state !== 'Granted')
    if (hadBegun) expect(answer.ledger).toBe(before)
    else expect(held).toEqual([])
    return { ...told, ledger: answer.ledger }
  }
  for (const { key } of claims) expect(held.filter((entry) => entry.key === key)).toHaveLength(1)
  for (const entry of held) expect(entry).toMatchObject({ epoch: answer.epoch, holder })
  const isRelevant = entriesOf(before, requestId).length === 0
  if (isRelevant) expectNobodyOvertaken(before, requestId, claims)
  return given(told, requestId, answer)
}

function expectNobodyOvertaken({ tickets }: Ledger, requestId: string, claims: readonly Claim[]): void {
  const own = tickets.find((ticket) => ticket.requestId === requestId)?.number ?? Number.POSITIVE_INFINITY
  const overtaken = tickets.filter(
    (ticket) =>
      isInLine(ticket) &&
      ticket.number < own &&
      ticket.claims.some((wanted) => claims.some((claim) => doClaimsConflict(wanted, claim))),
  )
  expect(overtaken).toEqual([])
}

function tell(told: Told, step: Step): Told {
  const { ledger, current } = told
  const { kind, requestId, holder } = step
  const by = { requestId, epoch: current.get(requestId) ?? 0, bootID: 'boot' }
  const orSame = (change: ReturnType<typeof renew>) => ({ ...told, ledger: change.ok ? change.ledger : ledger })
  switch (kind) {
    case 'grant':
      return take(told, step)
    case 'intend':
      return orSame(intend(ledger, by))
    case 'renew':
      return orSame(renew(ledger, by))
    case 'release':
      return orSame(release(ledger, by))
    case 'adopt': {
      const adopted = adopt(ledger, { requestId, holder })
      return adopted === undefined ? told : given(told, requestId, adopted)
    }
    case 'orphan':
      return { ...told, ledger: orphan(ledger, requestId) }
    case 'purge':
      return { ...told, ledger: purge(ledger, requestId) }
    case 'withdraw':
      return { ...told, ledger: withdraw(ledger, requestId) }
    case 'break': {
      const keys = step.claims.map(({ key }) => key)
      return { ...told, ledger: breakLocks(ledger, { keys, by: 'eve', reason: 'outage', at: now, sparing: requestId }) }
    }
    case 'queue': {
      const { claims, aside } = step
      const request = { requestId, holder, claims, now, ...(aside === undefined ? {} : { aside }) }
      return { ...told, ledger: enqueue(ledger, request) }
    }
    case 'stepBack': {
      const { aside } = step
      const place = entriesOf(ledger, requestId).find((entry) => entry.place !== undefined)?.place
      const change = stepBack(ledger, { ...by, ...(aside === undefined ? {} : { aside }) })
      const ticket = change.ok ? change.ledger.tickets.find((each) => each.requestId === requestId) : undefined
      if (change.ok && place !== undefined) expect(ticket).toMatchObject(place)
      return orSame(change)
    }
    case 'releaseKeys': {
      const keys = step.claims.map(({ key }) => key)
      const change = releaseKeys(ledger, { ...by, keys })
      if (change.ok) {
        expect(entriesOf(change.ledger, requestId)).toEqual(
          entriesOf(ledger, requestId).filter(({ key }) => !keys.includes(key)),
        )
      }
      return orSame(change)
    }
    case 'raise':
      return { ...told, ledger: raiseEpoch(ledger, ledger.nextEpoch + 3) }
  }
}

function expectSound({ ledger, given: epochs, current }: Told): void {
  const { entries, tickets } = ledger
  for (const [index, a] of entries.entries()) {
    expect(a.epoch).toBeLessThan(ledger.nextEpoch)
    for (const b of entries.slice(index + 1)) {
      if (a.requestId === b.requestId) {
        expect(a.key).not.toBe(b.key)
        expect([a.epoch, a.holder]).toEqual([b.epoch, b.holder])
      } else expect(doClaimsConflict(a, b)).toBe(false)
    }
  }
  expect(new Set(tickets.map(({ requestId }) => requestId)).size).toBe(tickets.length)
  expect(new Set(tickets.map(({ number }) => number)).size).toBe(tickets.length)
  expect(entries.filter(({ key }) => key === 'limit/workers').length).toBeLessThanOrEqual(places)
  for (const { requestId, number } of tickets) {
    expect(entriesOf(ledger, requestId)).toEqual([])
    expect(number).toBeLessThan(ledger.nextTicket)
  }
  for (const by of epochs) {
    if (current.get(by.requestId) === by.epoch) continue
    for (const attempt of [intend, renew, release, stepBack]) expect(attempt(ledger, by).ok).toBe(false)
    expect(releaseKeys(ledger, { ...by, keys: ['pdb/shop/web'] }).ok).toBe(false)
  }
}

it('whatever is asked in whatever order: no two conflict, no epoch comes twice, no old holder gets through', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      let told: Told = { ledger: frozen(emptyLedger), current: new Map(), given: [] }
      for (const step of steps) {
        const next = tell(told, step)
        expect(next.ledger.nextEpoch).toBeGreaterThanOrEqual(told.ledger.nextEpoch)
        expect(next.ledger.nextTicket).toBeGreaterThanOrEqual(told.ledger.nextTicket)
        if (step.kind === 'orphan' || step.kind === 'break') expectActedKeptCounted(told.ledger, next.ledger, step)
        frozen(next.ledger)
        expectSound(next)
        told = next
      }
    }),
    { numRuns: runsOf(800) },
  )
})

/** What was acted upon leaves the ledger only by its own holder's release, by burial, or because its very key was broken. */
function expectActedKeptCounted(before: Ledger, then: Ledger, { kind, claims }: Step): void {
  const broken = kind === 'break' ? claims.map(({ key }) => key) : []
  for (const { key, requestId, state } of before.entries) {
    if (state === 'Granted' || broken.includes(key)) continue
    expect(then.entries.some((entry) => entry.key === key && entry.requestId === requestId)).toBe(true)
  }
}

it('a request that needs much goes after those who waited before it, however many that need little come later', () => {
  const keys = ['k1', 'k2', 'k3', 'k4', 'k5'].map((key) => ({ key, uid: key, scope: '' }))
  const longest = 4
  const small = fc.record({
    claims: fc.subarray(keys, { minLength: 1, maxLength: 2 }),
    holdsFor: fc.integer({ min: 1, max: longest }),
  })
  const stream = fc.array(small, { minLength: 30, maxLength: 30 })
  fc.assert(
    fc.property(stream, fc.integer({ min: 1, max: 15 }), (arrivals, largeComesAt) => {
      let ledger: Ledger = emptyLedger
      let latest = Number.POSITIVE_INFINITY
      let asking: { requestId: string; claims: readonly Claim[]; holdsFor: number }[] = []
      const holding: { requestId: string; epoch: number; until: number }[] = []
      for (let time = 0; time <= latest; time += 1) {
        for (const by of holding.filter(({ until }) => until === time)) {
          const freed = release(ledger, by)
          if (freed.ok) ledger = freed.ledger
        }
        const newcomer = arrivals[time % arrivals.length] as (typeof arrivals)[number]
        asking.push({ requestId: `small-${time}`, ...newcomer })
        // The stream is hostile: each of it asks in every moment, and before the large one.
        asking = asking.filter(({ requestId, claims, holdsFor }) => {
          const answer = grant(ledger, { requestId, holder: 'x', claims, now })
          ledger = answer.ledger
          if (answer.granted) holding.push({ requestId, epoch: answer.epoch, until: time + holdsFor })
          return !answer.granted
        })
        if (time < largeComesAt) continue
        const large = grant(ledger, { requestId: 'large', holder: 'y', claims: keys, now })
        if (large.granted) return
        ledger = large.ledger
        if (latest === Number.POSITIVE_INFINITY) latest = time + longest * ledger.tickets.length
      }
      throw new Error('the large request was overtaken')
    }),
    { numRuns: runsOf(500) },
  )
})

it('a request that may be passed is passed once by those that need the same, and by no second, whatever keeps it waiting', () => {
  const keys = ['node/a', 'node/b', 'pdb/shop/web', 'storage/rook/ceph'].map((key) => ({ key, uid: key, scope: '' }))
  const event = fc.record({
    who: fc.nat(4),
    does: fc.constantFrom('asks', 'asks', 'waits outside', 'steps back', 'ends'),
    claims: fc.subarray(keys, { minLength: 1 }),
  })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let ledger: Ledger = emptyLedger
      for (const { who, does, claims } of events) {
        const requestId = `R${who}`
        const by = { requestId, holder: 'x', claims, now }
        const epoch = entriesOf(ledger, requestId)[0]?.epoch ?? 0
        const changes = {
          asks: () => grant(ledger, by).ledger,
          'waits outside': () => enqueue(ledger, { ...by, aside: 'Once' }),
          'steps back': () => orBefore(stepBack(ledger, { requestId, epoch, aside: 'Once' })),
          ends: () => orBefore(release(ledger, { requestId, epoch })),
        }
        ledger = changes[does]()
        for (const ticket of ledger.tickets) expect(ticket.overtaken ?? 0).toBeLessThanOrEqual(1)
      }

      function orBefore(change: ReturnType<typeof release>): Ledger {
        return change.ok ? change.ledger : ledger
      }
    }),
    { numRuns: runsOf(500) },
  )
})
