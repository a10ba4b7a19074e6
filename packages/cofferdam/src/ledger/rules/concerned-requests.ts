import { doClaimsConflict, isLimit, type Wanted } from './claim.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import { isInLine, type Ticket } from './queue.ts'

export interface LedgerDifference {
  /** Keys of everything that is held or waited for otherwise than before. */
  readonly keys: ReadonlySet<string>
  /** Whose own entries or ticket differ, and who may be able to go because of it. */
  readonly requestIds: ReadonlySet<string>
}

/** So many of those who wait for a place of one limit are told of a change: how many places there are is not in the ledger. */
const toldOfOneLimit = 8

/**
 * Whom a change of the ledger concerns. With a thousand requests in the queue that is one or two of them; the others learn of it when they
 * ask again of themselves.
 *
 * Guarantees: whoever had an obstacle in the ledger before and has none now is among them, unless it waits for a place of a limit behind
 * several others.
 */
export function concernedRequests(before: Ledger, now: Ledger): LedgerDifference {
  const keys = new Set<string>()
  const requestIds = new Set<string>()
  for (const entry of differing(before.entries, now.entries, entryText)) {
    keys.add(entry.key)
    requestIds.add(entry.requestId)
  }
  for (const { requestId, claims } of differing(before.tickets, now.tickets, ticketText)) {
    requestIds.add(requestId)
    for (const { key } of claims) keys.add(key)
  }
  if (keys.size > 0) {
    for (const { requestId, claims } of frontOf(now)) {
      if (claims.some(({ key }) => keys.has(key))) requestIds.add(requestId)
    }
  }
  return { keys, requestIds }
}

/** What is in one and not in the other, or differs. A heartbeat is no difference. */
function* differing<T extends object>(before: readonly T[], now: readonly T[], textOf: (each: T) => string) {
  const known = new Map(before.map((each) => [textOf(each), each]))
  for (const each of now) if (!known.delete(textOf(each))) yield each
  yield* known.values()
}

function entryText({ key, requestId, epoch, state }: LedgerEntry): string {
  return `${requestId} ${key} ${epoch} ${state}`
}

function ticketText({ requestId, number, aside, overtaken = 0 }: Ticket): string {
  return `${requestId} ${number} ${aside ?? ''} ${overtaken}`
}

/** Tickets that nothing in the ledger keeps waiting, as far as the ledger knows. */
function* frontOf({ entries, tickets }: Ledger): Generator<Ticket> {
  const taken = new Map<string, Wanted[]>()
  const places = new Map<string, number>()
  const take = (claim: Wanted) => {
    const same = taken.get(claim.key)
    if (same === undefined) taken.set(claim.key, [claim])
    else if (same.every(({ scope }) => scope !== claim.scope)) same.push(claim)
  }
  for (const entry of entries) if (!isLimit(entry)) take(entry)
  for (const ticket of tickets) {
    const claims = ticket.claims.filter((claim) => !isLimit(claim))
    const limits = ticket.claims.filter(isLimit)
    const isFree = !claims.some((claim) => taken.get(claim.key)?.some((other) => doClaimsConflict(claim, other)))
    if (isFree && limits.every(({ key }) => (places.get(key) ?? 0) < toldOfOneLimit)) yield ticket
    if (!isInLine(ticket)) continue
    for (const claim of claims) take(claim)
    if (isFree) for (const { key } of limits) places.set(key, (places.get(key) ?? 0) + 1)
  }
}
