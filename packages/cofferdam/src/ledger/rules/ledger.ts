import type { AppLockRecord } from './app-lock-record.ts'
import { type Claim, conflictsWith, isLimit, isSameClaim, onePerKey } from './claim.ts'
import {
  type Aside,
  afterGrant,
  isInLine,
  type Place,
  placeOf,
  type Ticket,
  ticketsBefore,
  waitingForPlace,
  withoutTicket,
  withTicket,
} from './queue.ts'

/**
 * `Granted`: nothing has been touched yet. `Acting`: the node may go at any time, or is away. `Orphaned`: whoever acted is
 * gone, and what it did still counts.
 */
export type EntryState = 'Granted' | 'Acting' | 'Orphaned'

export interface LedgerEntry extends Claim {
  /** Who acts, for people: `cofferdam-operator-x1 for nodedisruption/reboot-node-a`. */
  readonly holder: string
  readonly requestId: string
  readonly epoch: number
  readonly state: EntryState
  readonly since: string
  readonly renewSequence: number
  /** On the node's key: which boot of it was taken down, so that another one proves its return. */
  readonly bootID?: string
  /** On the node's key: the place in the queue that led to the grant, for a request that has to step back. */
  readonly place?: Place
}

/** Who broke what, and why; the last few. */
export interface BrokenLock {
  readonly key: string
  readonly by: string
  readonly reason: string
  readonly at: string
  readonly formerHolder: string
}

export interface Ledger {
  readonly nextEpoch: number
  readonly nextTicket: number
  readonly entries: readonly LedgerEntry[]
  readonly tickets: readonly Ticket[]
  readonly broken: readonly BrokenLock[]
  /** Since when owners have kept budgets locked. */
  readonly appLocks: readonly AppLockRecord[]
}

export const emptyLedger: Ledger = { nextEpoch: 1, nextTicket: 1, entries: [], tickets: [], broken: [], appLocks: [] }

/** What stands in the way of a claim: somebody who holds it, who asked for it earlier, or what the request itself has begun. */
export interface Obstacle {
  readonly key: string
  readonly kind: 'held' | 'earlier-ticket'
  readonly requestId: string
  readonly holder: string
  readonly state: EntryState | 'Waiting'
  readonly since: string
}

export type GrantAnswer =
  | { readonly granted: true; readonly epoch: number; readonly ledger: Ledger }
  /** The ledger then holds a ticket of the request and nothing else of it, or what the request has begun and no ticket. */
  | { readonly granted: false; readonly obstacles: readonly Obstacle[]; readonly ledger: Ledger }

export interface GrantRequest {
  readonly requestId: string
  readonly holder: string
  readonly claims: readonly Claim[]
  readonly now: string
}

/** A change of the ledger that only the rightful holder may make. */
export type LedgerChange =
  | { readonly ok: true; readonly ledger: Ledger }
  | { readonly ok: false; readonly why: 'not-held' | 'other-epoch' | 'not-granted' }

export function entriesOf({ entries }: Ledger, requestId: string): readonly LedgerEntry[] {
  return entries.filter((entry) => entry.requestId === requestId)
}

/**
 * Grants all claims at once or none.
 *
 * Guarantees: no claim is granted beside a conflicting entry, or before a conflicting ticket that is older; a request that
 * waits holds nothing; the same request asked twice gets the same grant; another holder of the same request gets an epoch of
 * its own, and the earlier one is void.
 * Fails closed: a request that has begun keeps what it has and gets nothing more.
 */
export function grant(ledger: Ledger, request: GrantRequest): GrantAnswer {
  const { requestId, holder, now } = request
  const claims = onePerKey(request.claims)
  const held = entriesOf(ledger, requestId)
  const first = held[0]
  if (first !== undefined) {
    const missing = claims.filter((claim) => !held.some((entry) => isSameClaim(entry, claim)))
    if (missing.length === 0) return keepHeld(ledger, held, { requestId, holder, claims, epoch: first.epoch })
    const begun = held.find(({ state }) => state !== 'Granted')
    if (begun !== undefined)
      return { granted: false, obstacles: missing.map(({ key }) => heldObstacle({ ...begun, key })), ledger }
  }
  const others = first === undefined ? ledger.entries : ledger.entries.filter((entry) => entry.requestId !== requestId)
  // Whoever needs something else than it was granted asks from the place that led to the grant.
  const former = formerPlace(held)
  const obstacles = findObstacles({ others, tickets: ledger.tickets, requestId, claims, former })
  if (obstacles.length > 0) {
    const without = first === undefined ? ledger : { ...ledger, entries: others }
    return { granted: false, obstacles, ledger: withTicket(without, { requestId, holder, now, claims }, former) }
  }
  const epoch = ledger.nextEpoch
  const entries = [...others]
  // Only requests for nodes step back, so only they need a place to step back to.
  const isOfNode = (key: string) => key.startsWith('node/')
  const isPlaced = claims.some(({ key }) => isOfNode(key))
  const { place, nextTicket } = isPlaced
    ? placeOf(ledger, requestId, former)
    : { place: undefined, nextTicket: ledger.nextTicket }
  for (const { key, uid, scope } of claims) {
    const entry = { key, uid, scope, holder, requestId, epoch, state: 'Granted', since: now, renewSequence: 0 } as const
    entries.push(place !== undefined && isOfNode(key) ? { ...entry, place } : entry)
  }
  const tickets = afterGrant(ledger.tickets, { requestId, claims }, former)
  return { granted: true, epoch, ledger: { ...ledger, nextEpoch: epoch + 1, nextTicket, entries, tickets } }
}

/**
 * Writes the intent down: from now on the node may go. `bootID` is the boot that goes; written once, so that an intent written
 * again after the reboot does not take the new boot for the old one.
 */
export function intend(ledger: Ledger, by: { requestId: string; epoch: number; bootID?: string }): LedgerChange {
  return change(ledger, by, (entry) => {
    if (entry.state === 'Acting') return entry
    const { bootID } = by
    if (bootID === undefined || !entry.key.startsWith('node/')) return { ...entry, state: 'Acting' }
    // Written out: a spread that adds a field is many times slower, and this runs in every state of the model check.
    const { key, uid, scope, holder, requestId, epoch, since, renewSequence } = entry
    return { key, uid, scope, holder, requestId, epoch, state: 'Acting', since, renewSequence, bootID }
  })
}

/** Shows that the holder lives; whoever watches times the change by its own clock. */
export function renew(ledger: Ledger, by: { requestId: string; epoch: number }): LedgerChange {
  return change(ledger, by, (entry) => ({ ...entry, renewSequence: entry.renewSequence + 1 }))
}

/**
 * Releases what was granted to a request that cannot begin, and gives it back its place in the queue: nothing that came later goes
 * before it for having tried. Refused once it has begun.
 */
export function stepBack(
  ledger: Ledger,
  by: { readonly requestId: string; readonly epoch: number; readonly aside?: Aside },
): LedgerChange {
  const held = entriesOf(ledger, by.requestId)
  if (held.some(({ state }) => state !== 'Granted')) return { ok: false, why: 'not-granted' }
  const released = release(ledger, by)
  const [first] = held
  if (!released.ok || first === undefined) return released
  const { requestId, holder, since } = first
  const { aside } = by
  const request = { requestId, holder, now: since, claims: held, ...(aside === undefined ? {} : { aside }) }
  return { ok: true, ledger: withTicket(released.ledger, request, formerPlace(held)) }
}

/** Releases everything of a request. */
export function release(ledger: Ledger, by: { requestId: string; epoch: number }): LedgerChange {
  return change(ledger, by, () => 'gone')
}

/** Releases some keys of a request, which goes on to hold the others. */
export function releaseKeys(
  ledger: Ledger,
  by: { readonly requestId: string; readonly epoch: number; readonly keys: readonly string[] },
): LedgerChange {
  return change(ledger, by, (entry) => (by.keys.includes(entry.key) ? 'gone' : entry))
}

/**
 * Takes over what the same request held under an earlier holder, with a new epoch: what the earlier one still has under
 * way is refused from then on. Undefined when it held nothing.
 */
export function adopt(
  ledger: Ledger,
  by: { requestId: string; holder: string },
): { readonly epoch: number; readonly ledger: Ledger } | undefined {
  return ledger.entries.some((entry) => entry.requestId === by.requestId) ? adoptHeld(ledger, by) : undefined
}

/** The holder is gone for good: what was only granted is free, what was acted upon stays counted and obeys no epoch. */
export function orphan(ledger: Ledger, requestId: string): Ledger {
  return withEntries(ledger, (entry) => {
    if (entry.requestId !== requestId || entry.state === 'Orphaned') return entry
    return entry.state === 'Granted' ? 'gone' : { ...entry, state: 'Orphaned' }
  })
}

/** Frees an orphan whose effect has ended. Entries that somebody adopted meanwhile stay. */
export function purge(ledger: Ledger, requestId: string): Ledger {
  return withEntries(ledger, (entry) => (entry.requestId === requestId && entry.state === 'Orphaned' ? 'gone' : entry))
}

/**
 * Keeps a place in the queue for a request that something outside the ledger keeps waiting, or that waits for the ledger alone.
 * A request that holds something has no place.
 */
export function enqueue(ledger: Ledger, request: GrantRequest & { readonly aside?: Aside }): Ledger {
  if (entriesOf(ledger, request.requestId).length > 0) return ledger
  return withTicket(ledger, { ...request, claims: onePerKey(request.claims) })
}

export function withdraw(ledger: Ledger, requestId: string): Ledger {
  const tickets = withoutTicket(ledger.tickets, requestId)
  return tickets === ledger.tickets ? ledger : { ...ledger, tickets }
}

/** No epoch at or below one that was ever seen is given out again, though the ledger that gave it is lost. */
export function raiseEpoch(ledger: Ledger, highestSeen: number): Ledger {
  // Far beyond what a ledger can reach: somebody's invention, and no reason to run out of epochs.
  if (!Number.isSafeInteger(highestSeen) || highestSeen > 2 ** 52) return ledger
  return ledger.nextEpoch > highestSeen ? ledger : { ...ledger, nextEpoch: highestSeen + 1 }
}

const brokenShown = 20

/**
 * Takes keys away from whoever holds them, on an explicit override; whoever waits for one loses its place. Whatever else
 * a former holder has is orphaned: it has to take a new snapshot before it goes on. What `sparing` has stays.
 */
export function breakLocks(
  ledger: Ledger,
  {
    keys,
    by,
    reason,
    at,
    sparing,
  }: { keys: readonly string[]; by: string; reason: string; at: string; sparing?: string },
): Ledger {
  const isBroken = (entry: LedgerEntry) => entry.requestId !== sparing && keys.includes(entry.key)
  const tickets = ledger.tickets.filter(
    ({ requestId, claims }) => requestId === sparing || !claims.some(({ key }) => keys.includes(key)),
  )
  const rest = tickets.length === ledger.tickets.length ? ledger : { ...ledger, tickets }
  const broken = ledger.entries.filter(isBroken)
  if (broken.length === 0) return rest
  const added = broken.map((entry): BrokenLock => ({ key: entry.key, by, reason, at, formerHolder: entry.holder }))
  const without = withEntries(rest, (entry) => (isBroken(entry) ? 'gone' : entry))
  const orphaned = broken.reduce<Ledger>((left, { requestId }) => orphan(left, requestId), without)
  return { ...orphaned, broken: [...ledger.broken, ...added].slice(-brokenShown) }
}

/** What is held is all that is claimed. What is not claimed any more is released, unless the request has begun. */
function keepHeld(
  ledger: Ledger,
  held: readonly LedgerEntry[],
  { requestId, holder, claims, epoch }: Omit<GrantRequest, 'now'> & { readonly epoch: number },
): GrantAnswer {
  const hasBegun = held.some(({ state }) => state !== 'Granted')
  const isWhole = hasBegun || held.length === claims.length
  const kept = isWhole
    ? ledger
    : withEntries(ledger, (entry) =>
        entry.requestId !== requestId || claims.some(({ key }) => key === entry.key) ? entry : 'gone',
      )
  const isOwn = held.every((entry) => entry.holder === holder && entry.state !== 'Orphaned')
  if (isOwn) return { granted: true, epoch, ledger: kept }
  return { granted: true, ...adoptHeld(kept, { requestId, holder }) }
}

function heldObstacle({ key, requestId, holder, state, since }: LedgerEntry): Obstacle {
  return { key, kind: 'held', requestId, holder, state, since }
}

/** The place in the queue that led to what is held; undefined where it had none, or where something was done since. */
function formerPlace(held: readonly LedgerEntry[]): Place | undefined {
  return held.find((entry) => entry.place !== undefined)?.place
}

function findObstacles({
  others,
  tickets,
  requestId,
  claims,
  former,
}: {
  others: readonly LedgerEntry[]
  tickets: readonly Ticket[]
  requestId: string
  claims: readonly Claim[]
  former: Place | undefined
}): Obstacle[] {
  const obstacles: Obstacle[] = []
  const isWanted = conflictsWith(claims)
  for (const entry of others) if (isWanted(entry)) obstacles.push(heldObstacle(entry))
  const earlier = ticketsBefore(tickets, requestId, former)
  for (const ticket of earlier) {
    if (!isInLine(ticket)) continue
    for (const claim of ticket.claims) if (isWanted(claim)) obstacles.push(ticketObstacle(ticket, claim.key))
  }
  for (const claim of claims) if (isLimit(claim)) obstacles.push(...limitObstacles(claim, { others, earlier }))
  return obstacles
}

/** Who has or gets the places of a limit before the request; nothing while one is left. */
function limitObstacles(
  { key, most = 1 }: Claim,
  { others, earlier }: { readonly others: readonly LedgerEntry[]; readonly earlier: readonly Ticket[] },
): Obstacle[] {
  const holders = others.filter((entry) => entry.key === key)
  const waiting = waitingForPlace(earlier, { limit: key, held: others })
  if (holders.length + waiting.length < most) return []
  const taken = [...holders.map(heldObstacle), ...waiting.map((ticket) => ticketObstacle(ticket, key))]
  return taken.length > 0
    ? taken
    : [{ key, kind: 'held', requestId: '', holder: 'the DisruptionPolicy', state: 'Acting', since: '' }]
}

function ticketObstacle({ requestId, holder, since }: Ticket, key: string): Obstacle {
  return { key, kind: 'earlier-ticket', requestId, holder, state: 'Waiting', since }
}

function adoptHeld(
  ledger: Ledger,
  { requestId, holder }: { requestId: string; holder: string },
): { readonly epoch: number; readonly ledger: Ledger } {
  const epoch = ledger.nextEpoch
  const entries = ledger.entries.map((entry): LedgerEntry => {
    if (entry.requestId !== requestId) return entry
    return { ...entry, holder, epoch, state: entry.state === 'Orphaned' ? 'Acting' : entry.state }
  })
  return { epoch, ledger: { ...ledger, nextEpoch: epoch + 1, entries } }
}

/** Refused when any entry of the request has another epoch, or has been orphaned: whoever held it has to adopt it first. */
function change(
  ledger: Ledger,
  { requestId, epoch }: { requestId: string; epoch: number },
  next: (entry: LedgerEntry) => LedgerEntry | 'gone',
): LedgerChange {
  let isHeld = false
  let hasOrphan = false
  for (const entry of ledger.entries) {
    if (entry.requestId !== requestId) continue
    if (entry.epoch !== epoch) return { ok: false, why: 'other-epoch' }
    isHeld = true
    hasOrphan ||= entry.state === 'Orphaned'
  }
  if (!isHeld) return { ok: false, why: 'not-held' }
  if (hasOrphan) return { ok: false, why: 'not-granted' }
  return { ok: true, ledger: withEntries(ledger, (entry) => (entry.requestId === requestId ? next(entry) : entry)) }
}

/** The same ledger when no entry changes. */
function withEntries(ledger: Ledger, next: (entry: LedgerEntry) => LedgerEntry | 'gone'): Ledger {
  let isChanged = false
  const entries: LedgerEntry[] = []
  for (const entry of ledger.entries) {
    const changed = next(entry)
    isChanged ||= changed !== entry
    if (changed !== 'gone') entries.push(changed)
  }
  return isChanged ? { ...ledger, entries } : ledger
}
