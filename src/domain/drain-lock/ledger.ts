/** What one request needs for itself: `node/NAME`, `pdb/NAMESPACE/NAME`, `storage/NAMESPACE/CLUSTER`. */
export interface Claim {
  readonly key: string
  /** Of the object behind the key. */
  readonly uid: string
  /** Claims of one key with the same scope go together: the failure domain of a storage key. '' shares with nobody. */
  readonly scope: string
}

/**
 * `Granted`: nothing has been touched yet. `Acting`: the node may go at any moment, or is away. `Orphaned`: whoever acted is
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
}

export interface Ticket {
  readonly requestId: string
  readonly number: number
  readonly claims: readonly Pick<Claim, 'key' | 'scope'>[]
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
}

export const emptyLedger: Ledger = { nextEpoch: 1, nextTicket: 1, entries: [], tickets: [], broken: [] }

/** What stands in the way of a claim: somebody who holds it, or who asked for it earlier. */
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
  /** The ledger then holds a ticket of the request, and nothing else of it. */
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

export function doClaimsConflict(a: Pick<Claim, 'key' | 'scope'>, b: Pick<Claim, 'key' | 'scope'>): boolean {
  return a.key === b.key && (a.scope === '' || a.scope !== b.scope)
}

export function entriesOf({ entries }: Ledger, requestId: string): readonly LedgerEntry[] {
  return entries.filter((entry) => entry.requestId === requestId)
}

/**
 * Grants all claims at once or none.
 *
 * Guarantees: no claim is granted beside a conflicting entry, or before a conflicting ticket that is older; a request that
 * waits holds nothing; the same request asked twice gets the same grant.
 */
export function grant(ledger: Ledger, request: GrantRequest): GrantAnswer {
  const { requestId, holder, claims, now } = request
  const held = entriesOf(ledger, requestId)
  const first = held[0]
  // What has been acted upon is never given up for the sake of more.
  const isBound = held.some(({ state }) => state !== 'Granted')
  if (first !== undefined && (isBound || covers(held, claims))) return { granted: true, epoch: first.epoch, ledger }
  const others = ledger.entries.filter((entry) => entry.requestId !== requestId)
  const obstacles = [...heldByOthers(others, claims), ...earlierTickets(ledger, request)]
  if (obstacles.length > 0)
    return { granted: false, obstacles, ledger: withTicket({ ...ledger, entries: others }, request) }
  const epoch = ledger.nextEpoch
  const entries = claims.map(
    (claim): LedgerEntry => ({ ...claim, holder, requestId, epoch, state: 'Granted', since: now, renewSequence: 0 }),
  )
  const granted = { ...withdraw(ledger, requestId), nextEpoch: epoch + 1, entries: [...others, ...entries] }
  return { granted: true, epoch, ledger: granted }
}

/** Writes the intent down: from now on the node may go. `bootID` is the boot that goes. */
export function intend(ledger: Ledger, by: { requestId: string; epoch: number; bootID?: string }): LedgerChange {
  return change(ledger, by, (entry) => {
    if (entry.state === 'Orphaned') return 'not-granted'
    const isNode = entry.key.startsWith('node/')
    return { ...entry, state: 'Acting', ...(isNode && by.bootID !== undefined ? { bootID: by.bootID } : {}) }
  })
}

/** Shows that the holder lives; whoever watches times the change by its own clock. */
export function renew(ledger: Ledger, by: { requestId: string; epoch: number }): LedgerChange {
  return change(ledger, by, (entry) => ({ ...entry, renewSequence: entry.renewSequence + 1 }))
}

/** Gives back everything of a request. */
export function release(ledger: Ledger, by: { requestId: string; epoch: number }): LedgerChange {
  return change(ledger, by, () => 'gone')
}

/**
 * Takes over what the same request held under an earlier holder, with a new epoch: what the earlier one still has under
 * way is refused from then on. Undefined when it held nothing.
 */
export function adopt(
  ledger: Ledger,
  { requestId, holder }: { requestId: string; holder: string },
): { readonly epoch: number; readonly ledger: Ledger } | undefined {
  if (entriesOf(ledger, requestId).length === 0) return undefined
  const epoch = ledger.nextEpoch
  const entries = ledger.entries.map((entry): LedgerEntry => {
    if (entry.requestId !== requestId) return entry
    return { ...entry, holder, epoch, state: entry.state === 'Orphaned' ? 'Acting' : entry.state }
  })
  return { epoch, ledger: { ...ledger, nextEpoch: epoch + 1, entries } }
}

/** The holder is gone for good: what was only granted is free, what was acted upon stays counted. */
export function orphan(ledger: Ledger, requestId: string): Ledger {
  const entries = ledger.entries.flatMap((entry): LedgerEntry[] => {
    if (entry.requestId !== requestId || entry.state === 'Orphaned') return [entry]
    return entry.state === 'Granted' ? [] : [{ ...entry, state: 'Orphaned' }]
  })
  return { ...ledger, entries }
}

/** Frees an orphan whose effect has ended. Entries that somebody adopted meanwhile stay. */
export function bury(ledger: Ledger, requestId: string): Ledger {
  return {
    ...ledger,
    entries: ledger.entries.filter((entry) => entry.requestId !== requestId || entry.state !== 'Orphaned'),
  }
}

export function withdraw(ledger: Ledger, requestId: string): Ledger {
  if (!ledger.tickets.some((ticket) => ticket.requestId === requestId)) return ledger
  return { ...ledger, tickets: ledger.tickets.filter((ticket) => ticket.requestId !== requestId) }
}

const brokenShown = 20

/**
 * Takes keys away from whoever holds them, on somebody's explicit word. Whatever else a former holder has is orphaned: it
 * has to look again before it goes on.
 */
export function breakLocks(
  ledger: Ledger,
  { keys, by, reason, at }: { keys: readonly string[]; by: string; reason: string; at: string },
): Ledger {
  const broken = ledger.entries.filter((entry) => keys.includes(entry.key))
  if (broken.length === 0) return ledger
  const told = broken.map((entry): BrokenLock => ({ key: entry.key, by, reason, at, formerHolder: entry.holder }))
  const rest = { ...ledger, entries: ledger.entries.filter((entry) => !keys.includes(entry.key)) }
  const orphaned = broken.reduce<Ledger>((left, { requestId }) => orphan(left, requestId), rest)
  return { ...orphaned, broken: [...ledger.broken, ...told].slice(-brokenShown) }
}

function covers(held: readonly LedgerEntry[], claims: readonly Claim[]): boolean {
  return claims.every((claim) =>
    held.some(({ key, uid, scope }) => key === claim.key && uid === claim.uid && scope === claim.scope),
  )
}

function heldByOthers(others: readonly LedgerEntry[], claims: readonly Claim[]): Obstacle[] {
  return others
    .filter((entry) => claims.some((claim) => doClaimsConflict(entry, claim)))
    .map(({ key, requestId, holder, state, since }) => ({ key, kind: 'held', requestId, holder, state, since }))
}

function earlierTickets({ tickets }: Ledger, { requestId, claims }: GrantRequest): Obstacle[] {
  const own = tickets.find((ticket) => ticket.requestId === requestId)?.number ?? Number.POSITIVE_INFINITY
  return tickets
    .filter(({ number }) => number < own)
    .flatMap((ticket) =>
      ticket.claims
        .filter((wanted) => claims.some((claim) => doClaimsConflict(wanted, claim)))
        .map(({ key }): Obstacle => {
          return { key, kind: 'earlier-ticket', requestId: ticket.requestId, holder: '', state: 'Waiting', since: '' }
        }),
    )
}

function withTicket(ledger: Ledger, { requestId, claims }: GrantRequest): Ledger {
  const wanted = claims.map(({ key, scope }) => ({ key, scope }))
  const own = ledger.tickets.find((ticket) => ticket.requestId === requestId)
  if (own !== undefined) {
    const tickets = ledger.tickets.map((ticket) => (ticket === own ? { ...own, claims: wanted } : ticket))
    return { ...ledger, tickets }
  }
  const ticket = { requestId, number: ledger.nextTicket, claims: wanted }
  return { ...ledger, nextTicket: ledger.nextTicket + 1, tickets: [...ledger.tickets, ticket] }
}

function change(
  ledger: Ledger,
  { requestId, epoch }: { requestId: string; epoch: number },
  next: (entry: LedgerEntry) => LedgerEntry | 'gone' | 'not-granted',
): LedgerChange {
  const held = entriesOf(ledger, requestId)
  if (held.length === 0) return { ok: false, why: 'not-held' }
  if (held.some((entry) => entry.epoch !== epoch)) return { ok: false, why: 'other-epoch' }
  const entries: LedgerEntry[] = []
  for (const entry of ledger.entries) {
    const changed = entry.requestId === requestId ? next(entry) : entry
    if (changed === 'not-granted') return { ok: false, why: 'not-granted' }
    if (changed !== 'gone') entries.push(changed)
  }
  return { ok: true, ledger: { ...ledger, entries } }
}
