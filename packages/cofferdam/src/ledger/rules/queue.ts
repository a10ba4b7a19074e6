import { doAnyConflict, isLimit, type Wanted } from './claim.ts'

/** A place in the queue. Lower numbers go first. */
export interface Ticket {
  readonly requestId: string
  readonly number: number
  /** Who waits, for people. */
  readonly holder: string
  readonly since: string
  readonly claims: readonly Wanted[]
  /** Something outside the ledger keeps the request waiting. Absent: it waits for nothing but the ledger. */
  readonly aside?: Aside
  /** How many later requests that need the same were granted before it. */
  readonly overtaken?: number
}

/**
 * `Once`: one later request that needs the same may go first. `Always`: every later one may, because what this request waits for
 * can take for ever, such as a person's decision. Both keep the number.
 */
export type Aside = 'Once' | 'Always'

export interface QueueRequest {
  readonly requestId: string
  readonly holder: string
  readonly claims: readonly Wanted[]
  readonly now: string
  readonly aside?: Aside
}

export interface Queue {
  readonly nextTicket: number
  readonly tickets: readonly Ticket[]
}

/** What of a ticket counts when others come later. */
export type Place = Pick<Ticket, 'number' | 'overtaken'>

/** How much may wait in the ledger: an object of the API server holds 1.5 MiB, and about half of it is for what is held. */
export const mostQueued = { tickets: 1_000, characters: 400_000 } as const

const longQueue = 32

/** Whether so many wait that not each of them can be reconciled with every change: most of them could not go anyway. */
export function isLongQueue({ tickets }: Pick<Queue, 'tickets'>): boolean {
  return tickets.length > longQueue
}

/** Whether later requests that need the same have to wait for it. */
export function isInLine({ aside, overtaken = 0 }: Pick<Ticket, 'aside' | 'overtaken'>): boolean {
  return aside === undefined || (aside === 'Once' && overtaken > 0)
}

/** Tickets that go before the request, with or without a ticket of its own; `former` is a place it had before. */
export function ticketsBefore(tickets: readonly Ticket[], requestId: string, former?: Place): readonly Ticket[] {
  const place = tickets.find((ticket) => ticket.requestId === requestId) ?? former
  const own = place?.number ?? Number.POSITIVE_INFINITY
  return tickets.filter(({ number }) => number < own)
}

/** The place of a request, the one that it had before, or the next one. */
export function placeOf(
  { tickets, nextTicket }: Queue,
  requestId: string,
  former?: Place,
): Pick<Queue, 'nextTicket'> & { readonly place: Place } {
  const own = tickets.find((ticket) => ticket.requestId === requestId) ?? former
  if (own === undefined) return { place: { number: nextTicket }, nextTicket: nextTicket + 1 }
  const { number, overtaken } = own
  return { place: overtaken === undefined ? { number } : { number, overtaken }, nextTicket }
}

/**
 * The queue with a ticket of the request that says just this. The number that it has stays its own; `former` is one it had before.
 *
 * Guarantees: the same queue when nothing differs, and when there is no room for another ticket.
 */
export function withTicket<Q extends Queue>(queue: Q, request: QueueRequest, former?: Place): Q {
  const { requestId, holder, now, aside } = request
  const own = queue.tickets.find((ticket) => ticket.requestId === requestId)
  const claims = request.claims.map(({ key, scope }) => ({ key, scope }))
  const asideNow = aside === undefined ? {} : { aside }
  if (own === undefined) {
    if (isFull(queue.tickets, claims)) return queue
    const { place, nextTicket } = placeOf(queue, requestId, former)
    const ticket: Ticket = { requestId, ...place, holder, since: now, claims, ...asideNow }
    return { ...queue, nextTicket, tickets: [...queue.tickets, ticket].sort((a, b) => a.number - b.number) }
  }
  if (own.holder === holder && own.aside === aside && areSameWishes(own.claims, claims)) return queue
  const { aside: _before, ...kept } = own
  const renewed: Ticket = { ...kept, holder, claims, ...asideNow }
  return { ...queue, tickets: queue.tickets.map((ticket) => (ticket === own ? renewed : ticket)) }
}

export function withoutTicket(tickets: readonly Ticket[], requestId: string): readonly Ticket[] {
  return tickets.some((ticket) => ticket.requestId === requestId)
    ? tickets.filter((ticket) => ticket.requestId !== requestId)
    : tickets
}

/** What a grant leaves of the queue: the ticket of the request is used up, and those it passed remember it. */
export function afterGrant(
  tickets: readonly Ticket[],
  { requestId, claims }: Pick<QueueRequest, 'requestId' | 'claims'>,
  former?: Place,
): readonly Ticket[] {
  const passed = ticketsBefore(tickets, requestId, former).filter((ticket) => doAnyConflict(ticket.claims, claims))
  const left = withoutTicket(tickets, requestId)
  if (passed.length === 0) return left
  return left.map((ticket) =>
    passed.includes(ticket) ? { ...ticket, overtaken: (ticket.overtaken ?? 0) + 1 } : ticket,
  )
}

export function areSameWishes(before: readonly Wanted[], now: readonly Wanted[]): boolean {
  return (
    before.length === now.length &&
    before.every(({ key, scope }, index) => key === now[index]?.key && scope === now[index]?.scope)
  )
}

/**
 * Who takes a place of a limit before the request: those who wait for places alone. A ticket that waits for something else that is
 * held could not use the place now.
 */
export function waitingForPlace(
  earlier: readonly Ticket[],
  { limit, held }: { readonly limit: string; readonly held: readonly Wanted[] },
): readonly Ticket[] {
  return earlier.filter((ticket) => {
    if (!isInLine(ticket) || !ticket.claims.some(({ key }) => key === limit)) return false
    const wanted = ticket.claims.filter((claim) => !isLimit(claim))
    return !doAnyConflict(wanted, held)
  })
}

function isFull(tickets: readonly Ticket[], claims: readonly Wanted[]): boolean {
  if (tickets.length >= mostQueued.tickets) return true
  let characters = lengthOf(claims)
  for (const ticket of tickets) characters += lengthOf(ticket.claims)
  return characters > mostQueued.characters
}

function lengthOf(claims: readonly Wanted[]): number {
  let characters = 0
  for (const { key, scope } of claims) characters += key.length + scope.length
  return characters
}
