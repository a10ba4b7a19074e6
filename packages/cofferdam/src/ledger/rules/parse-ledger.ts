import { fieldsOfOthers } from '../../shared/fields-of-others.ts'
import { type DisruptionLedger, disruptionLedgerStatus, ledgerFields } from '../../shared/kinds/disruption-ledger.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import { doClaimsConflict } from './claim.ts'
import { emptyLedger, type Ledger, type LedgerEntry } from './ledger.ts'
import type { Place, Ticket } from './queue.ts'

type LedgerStatus = NonNullable<DisruptionLedger['status']>

/**
 * The ledger as read from its object; an object that is absent or was never written to is an empty one.
 *
 * Fails closed: what no sequence of grants can have led to is unknown, and nobody is granted anything on it.
 * Assumes: nobody changes an object that was read; the next state is another object.
 */
export function parseLedger(object: DisruptionLedger | undefined): Observed<Ledger> {
  if (object?.status === undefined) return known(emptyLedger)
  const read = parsedStatuses.get(object.status) ?? parseStatus(object.status)
  parsedStatuses.set(object.status, read)
  return read
}

/** Everybody who holds something reads the same object again in each pass. */
const parsedStatuses = new WeakMap<LedgerStatus, Observed<Ledger>>()

function parseStatus(status: LedgerStatus): Observed<Ledger> {
  const parsed = disruptionLedgerStatus.safeParse(status)
  if (!parsed.success) {
    const [issue] = parsed.error.issues as [(typeof parsed.error.issues)[number]]
    return unknown(`the ledger cannot be read: status.${issue.path.join('.')}: ${issue.message}`)
  }
  const { nextEpoch, nextTicket, entries = [], tickets = [], broken = [], appLocks = [] } = parsed.data
  const ledger: Ledger = {
    nextEpoch,
    nextTicket,
    entries: entries.map(entryOf),
    tickets: tickets.map(ticketOf),
    broken,
    appLocks,
  }
  const fault = findFault(ledger)
  return fault === undefined ? known(ledger) : unknown(`the ledger contradicts itself: ${fault}`)
}

/**
 * What is stored of a ledger. Two numbers are there for people only. What another version noted in `before` stays, on the whole and on each part
 * that is still there.
 */
export function ledgerStatus(ledger: Ledger, before: LedgerStatus = noStatus): LedgerStatus {
  const { nextEpoch, nextTicket, entries, tickets, broken, appLocks } = ledger
  return {
    ...before,
    nextEpoch,
    nextTicket,
    held: entries.length,
    waiting: tickets.length,
    entries: keepingNotes(entries, before.entries, { known: ledgerFields.entry, nameOf: nameOfEntry }),
    tickets: keepingNotes(tickets.map(storedTicket), before.tickets, {
      known: ledgerFields.ticket,
      nameOf: ({ requestId }) => requestId,
    }),
    broken: keepingNotes(broken, before.broken, {
      known: ledgerFields.broken,
      nameOf: ({ key, at, by }) => `${key} ${at} ${by}`,
    }),
    appLocks: keepingNotes(appLocks, before.appLocks, { known: ledgerFields.appLock, nameOf: ({ budget }) => budget }),
  }
}

const noStatus: LedgerStatus = { nextEpoch: 1, nextTicket: 1 }

/** Under another epoch it is another grant. */
function nameOfEntry({ key, requestId, epoch }: Pick<LedgerEntry, 'key' | 'requestId' | 'epoch'>): string {
  return `${key} ${requestId} ${epoch}`
}

function storedTicket({ since, claims, ...ticket }: Ticket) {
  return { ...ticket, ...(since === '' ? {} : { since }), claims: [...claims] }
}

function keepingNotes<T extends object>(
  parts: readonly T[],
  before: readonly T[] = [],
  { known, nameOf }: { readonly known: readonly string[]; readonly nameOf: (part: T) => string },
): T[] {
  const notes = new Map(before.map((part) => [nameOf(part), fieldsOfOthers(part, known)]))
  return parts.map((part) => ({ ...part, ...notes.get(nameOf(part)) }))
}

function entryOf({ bootID, place, ...entry }: NonNullable<LedgerStatus['entries']>[number]): LedgerEntry {
  return {
    ...entry,
    ...(bootID === undefined ? {} : { bootID }),
    ...(place === undefined ? {} : { place: placeAsRead(place) }),
  }
}

function placeAsRead({ number, overtaken }: { number: number; overtaken?: number | undefined }): Place {
  return overtaken === undefined ? { number } : { number, overtaken }
}

function ticketOf({ since = '', aside, overtaken, ...ticket }: NonNullable<LedgerStatus['tickets']>[number]): Ticket {
  return {
    ...ticket,
    since,
    ...(aside === undefined ? {} : { aside }),
    ...(overtaken === undefined ? {} : { overtaken }),
  }
}

function findFault({ nextEpoch, nextTicket, entries, tickets }: Ledger): string | undefined {
  const firstOf = new Map<string, LedgerEntry>()
  const byKey = new Map<string, LedgerEntry[]>()
  for (const entry of entries) {
    const { key, requestId, epoch } = entry
    if (epoch >= nextEpoch) return `${key} has epoch ${epoch}, which was not given out yet`
    const first = firstOf.get(requestId)
    if (first === undefined) firstOf.set(requestId, entry)
    else if (first.epoch !== epoch) return `${key} and ${first.key} of request ${requestId} differ in epoch`
    const holders = byKey.get(key) ?? []
    for (const other of holders) {
      if (other.requestId === requestId) return `${key} is held twice by request ${requestId}`
      if (doClaimsConflict(other, entry)) return `${key} is held by ${other.holder} and by ${entry.holder}`
    }
    byKey.set(key, [...holders, entry])
  }
  const waiting = new Set<string>()
  for (const { requestId, number } of tickets) {
    if (number >= nextTicket) return `request ${requestId} has ticket ${number}, which was not given out yet`
    if (firstOf.has(requestId)) return `request ${requestId} holds and waits`
    if (waiting.has(requestId)) return `request ${requestId} waits twice`
    waiting.add(requestId)
  }
  return undefined
}
