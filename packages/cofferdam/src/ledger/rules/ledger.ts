/** What one request needs for itself: `node/NAME`, `pdb/NAMESPACE/NAME`, `storage/NAMESPACE/CLUSTER`. */
export interface Claim {
  readonly key: string
  /** Uid of the object behind the ledger key. */
  readonly uid: string
  /** Claims of one key with the same scope go together: the failure domain of a storage key. '' shares with nobody. */
  readonly scope: string
}

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
}

export interface Ticket {
  readonly requestId: string
  readonly number: number
  /** Who waits, for people. */
  readonly holder: string
  readonly since: string
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
    if (missing.length === 0) return keepHeld(ledger, held, { requestId, holder, now, claims })
    const begun = held.find(({ state }) => state !== 'Granted')
    if (begun !== undefined)
      return { granted: false, obstacles: missing.map(({ key }) => heldObstacle({ ...begun, key })), ledger }
  }
  const others = first === undefined ? ledger.entries : ledger.entries.filter((entry) => entry.requestId !== requestId)
  const obstacles = findObstacles({ others, tickets: ledger.tickets, requestId, claims })
  if (obstacles.length > 0) {
    const without = first === undefined ? ledger : { ...ledger, entries: others }
    return { granted: false, obstacles, ledger: withTicket(without, { requestId, holder, now, claims }) }
  }
  const epoch = ledger.nextEpoch
  const entries = [...others]
  for (const { key, uid, scope } of claims)
    entries.push({ key, uid, scope, holder, requestId, epoch, state: 'Granted', since: now, renewSequence: 0 })
  const { tickets } = withdraw(ledger, requestId)
  return { granted: true, epoch, ledger: { ...ledger, nextEpoch: epoch + 1, entries, tickets } }
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

/** Releases everything of a request. */
export function release(ledger: Ledger, by: { requestId: string; epoch: number }): LedgerChange {
  return change(ledger, by, () => 'gone')
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

export function withdraw(ledger: Ledger, requestId: string): Ledger {
  if (!ledger.tickets.some((ticket) => ticket.requestId === requestId)) return ledger
  return { ...ledger, tickets: ledger.tickets.filter((ticket) => ticket.requestId !== requestId) }
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
function keepHeld(ledger: Ledger, held: readonly LedgerEntry[], request: GrantRequest): GrantAnswer {
  const { requestId, holder, claims } = request
  const hasBegun = held.some(({ state }) => state !== 'Granted')
  const isWhole = hasBegun || held.length === claims.length
  const kept = isWhole
    ? ledger
    : withEntries(ledger, (entry) =>
        entry.requestId !== requestId || claims.some(({ key }) => key === entry.key) ? entry : 'gone',
      )
  const isOwn = held.every((entry) => entry.holder === holder && entry.state !== 'Orphaned')
  if (isOwn) return { granted: true, epoch: held[0]?.epoch ?? 0, ledger: kept }
  return { granted: true, ...adoptHeld(kept, { requestId, holder }) }
}

/** Two claims of one key by the same request are one; in two scopes they share with nobody. */
export function onePerKey(claims: readonly Claim[]): readonly Claim[] {
  const hasTwice = claims.some(({ key }, index) => claims.findIndex((other) => other.key === key) !== index)
  if (!hasTwice) return claims
  const byKey = new Map<string, Claim>()
  for (const claim of claims) {
    const before = byKey.get(claim.key)
    byKey.set(claim.key, before === undefined || before.scope === claim.scope ? claim : { ...claim, scope: '' })
  }
  return [...byKey.values()]
}

function isSameClaim(a: Claim, b: Claim): boolean {
  return a.key === b.key && a.uid === b.uid && a.scope === b.scope
}

function heldObstacle({ key, requestId, holder, state, since }: LedgerEntry): Obstacle {
  return { key, kind: 'held', requestId, holder, state, since }
}

function findObstacles({
  others,
  tickets,
  requestId,
  claims,
}: {
  others: readonly LedgerEntry[]
  tickets: readonly Ticket[]
  requestId: string
  claims: readonly Claim[]
}): Obstacle[] {
  const obstacles: Obstacle[] = []
  const isWanted = (wanted: Pick<Claim, 'key' | 'scope'>) => claims.some((claim) => doClaimsConflict(wanted, claim))
  for (const entry of others) if (isWanted(entry)) obstacles.push(heldObstacle(entry))
  const own = tickets.find((ticket) => ticket.requestId === requestId)?.number ?? Number.POSITIVE_INFINITY
  for (const { number, requestId: other, holder, since, claims: wanted } of tickets) {
    if (number >= own) continue
    for (const claim of wanted)
      if (isWanted(claim))
        obstacles.push({ key: claim.key, kind: 'earlier-ticket', requestId: other, holder, state: 'Waiting', since })
  }
  return obstacles
}

function withTicket(ledger: Ledger, { requestId, holder, now, claims }: GrantRequest): Ledger {
  const own = ledger.tickets.find((ticket) => ticket.requestId === requestId)
  if (own === undefined) {
    const wanted = claims.map(({ key, scope }) => ({ key, scope }))
    const ticket = { requestId, number: ledger.nextTicket, holder, since: now, claims: wanted }
    return { ...ledger, nextTicket: ledger.nextTicket + 1, tickets: [...ledger.tickets, ticket] }
  }
  const isAsBefore =
    own.holder === holder &&
    own.claims.length === claims.length &&
    own.claims.every(({ key, scope }, index) => key === claims[index]?.key && scope === claims[index]?.scope)
  if (isAsBefore) return ledger
  const renewed = { ...own, holder, claims: claims.map(({ key, scope }) => ({ key, scope })) }
  return { ...ledger, tickets: ledger.tickets.map((ticket) => (ticket === own ? renewed : ticket)) }
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
