import { doClaimsConflict, isLimit } from '../../../ledger/rules/claim.ts'
import { entriesOf, type Ledger, type LedgerEntry, orphan, purge, withdraw } from '../../../ledger/rules/ledger.ts'
import { isInLine, type Ticket } from '../../../ledger/rules/queue.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { BudgetFacts, NodeFacts } from './snapshot.ts'

/** Everything that is seen before it is decided what becomes of keys and tickets whose request may be gone. */
export interface OrphanSnapshot {
  readonly ledger: Ledger
  /** Requests that are there and have not ended: whatever they hold is theirs to manage. */
  readonly living: ReadonlySet<string>
  /** Requests that were there and are gone. */
  readonly vanished: ReadonlySet<string>
  /** For all other requests: the last heartbeat, and for how long it has been the same by our own clock. */
  readonly heartbeats: ReadonlyMap<string, { readonly beat: string | undefined; readonly unchangedMs: number }>
  readonly renewMs: number
  /** What is behind the keys of orphans now. A key that is missing has not been read. */
  readonly facts: ReadonlyMap<string, KeyFacts>
}

/** `undefined`: there is no such object. */
export type KeyFacts =
  | { readonly kind: 'node'; readonly node: Pick<NodeFacts, 'uid' | 'bootID' | 'isReady' | 'isCordoned'> | undefined }
  | {
      readonly kind: 'budget'
      readonly budget: Pick<BudgetFacts, 'uid' | 'isCounted' | 'currentHealthy' | 'desiredHealthy'> | undefined
    }
  | {
      readonly kind: 'storage'
      readonly storage: { readonly uid: string; readonly isClean: Observed<boolean> } | undefined
    }

export interface OrphanDecision {
  readonly step: 'withdraw' | 'free' | 'orphan' | 'purge' | 'keep'
  readonly requestId: string
  readonly holder: string
  readonly keys: readonly string[]
  readonly reason: Reason
  readonly explanation: string
}

/** A holder that shows no heartbeat for so many renewals counts as gone. */
export const missedRenewals = 3

/**
 * What becomes of everything in the ledger that no living request manages.
 *
 * Guarantees: what was acted upon is freed only after all of what was done has been seen to have ended; a holder is given up
 * only for what it has not shown while we watched, never by a time that somebody wrote down.
 * Fails closed: what is not known has not ended.
 */
export function decideOrphans(snapshot: OrphanSnapshot): readonly OrphanDecision[] {
  const { ledger, living } = snapshot
  const decisions: OrphanDecision[] = []
  for (const ticket of ledger.tickets) {
    if (!living.has(ticket.requestId) && isGone(snapshot, ticket.requestId)) decisions.push(withdrawn(ticket))
  }
  const strangers = new Set(ledger.entries.map(({ requestId }) => requestId).filter((id) => !living.has(id)))
  for (const requestId of strangers) {
    const entries = entriesOf(ledger, requestId)
    if (entries.every(({ state }) => state === 'Orphaned')) decisions.push(decideOrphan(snapshot, entries))
    else if (isGone(snapshot, requestId)) decisions.push(givenUp(entries))
  }
  return decisions
}

/**
 * Nodes of orphans that are back and still closed. As with a living request they are opened before everything is as before:
 * there is storage that recovers only where pods may run.
 */
export function nodesToReopen({ ledger, living, facts }: OrphanSnapshot): readonly LedgerEntry[] {
  return ledger.entries.filter((entry) => {
    const seen = facts.get(entry.key)
    if (entry.state !== 'Orphaned' || living.has(entry.requestId) || seen?.kind !== 'node') return false
    const isOurs = seen.node !== undefined && !isAnother(seen.node.uid, entry.uid)
    return isOurs && seen.node.isCordoned && findEffect(entry, seen) === undefined
  })
}

/** The ledger after these decisions. Applied twice, it is the same. */
export function applyOrphans(ledger: Ledger, decisions: readonly OrphanDecision[]): Ledger {
  return decisions.reduce((left, { step, requestId }) => endings[step](left, requestId), ledger)
}

const endings: Record<OrphanDecision['step'], (ledger: Ledger, requestId: string) => Ledger> = {
  withdraw,
  free: orphan,
  orphan,
  purge,
  keep: (ledger) => ledger,
}

/**
 * What changes while a request lives. Undefined for whoever waits for others: it has nothing to show. Whose position in the queue is first
 * takes what it waits for, if it lives.
 */
export function heartbeat(ledger: Ledger, requestId: string): string | undefined {
  const [first] = entriesOf(ledger, requestId)
  if (first !== undefined) return `${first.epoch}.${first.renewSequence}.${first.state}`
  const ticket = ledger.tickets.find((each) => each.requestId === requestId)
  return ticket !== undefined && isItsTurn(ledger, ticket) ? `first in queue: ticket ${ticket.number}` : undefined
}

function isItsTurn({ entries, tickets }: Ledger, { number, claims, requestId }: Ticket): boolean {
  const isWanted = (other: Pick<LedgerEntry, 'key' | 'scope'>) => claims.some((claim) => doClaimsConflict(other, claim))
  if (entries.some((entry) => entry.requestId !== requestId && isWanted(entry))) return false
  return !tickets.some((other) => other.number < number && isInLine(other) && other.claims.some(isWanted))
}

function isGone({ ledger, vanished, heartbeats, renewMs }: OrphanSnapshot, requestId: string): boolean {
  if (vanished.has(requestId)) return true
  const seen = heartbeats.get(requestId)
  const beat = heartbeat(ledger, requestId)
  if (seen === undefined || beat === undefined || seen.beat !== beat) return false
  return seen.unchangedMs >= missedRenewals * renewMs
}

function withdrawn({ requestId, holder, claims }: Ticket): OrphanDecision {
  const keys = claims.map(({ key }) => key)
  const who = holder === '' ? `request ${requestId}` : holder
  const explanation = `${who} waited for ${keys.join(', ')} and is gone; the others continue without it.`
  return { step: 'withdraw', requestId, holder, keys, reason: 'TicketWithdrawn', explanation }
}

function givenUp(entries: readonly LedgerEntry[]): OrphanDecision {
  const { requestId, holder } = entries[0] as LedgerEntry
  const acted = entries.filter(({ state }) => state !== 'Granted').map(({ key }) => key)
  if (acted.length === 0) {
    const keys = entries.map(({ key }) => key)
    const explanation = `${holder} is gone and had not touched anything: ${keys.join(', ')} released.`
    return { step: 'free', requestId, holder, keys, reason: 'GrantFreed', explanation }
  }
  const explanation = `${holder} is gone and had started: ${acted.join(', ')} stay held until what it started has ended.`
  return { step: 'orphan', requestId, holder, keys: acted, reason: 'HolderGone', explanation }
}

function decideOrphan({ facts }: OrphanSnapshot, entries: readonly LedgerEntry[]): OrphanDecision {
  const { requestId, holder } = entries[0] as LedgerEntry
  const keys = entries.map(({ key }) => key)
  const awaited = entries.map((entry) => findEffect(entry, facts.get(entry.key))).filter((text) => text !== undefined)
  if (awaited.length === 0) {
    const explanation = `What ${holder} started has ended: ${keys.join(', ')} released.`
    return { step: 'purge', requestId, holder, keys, reason: 'OrphanBuried', explanation }
  }
  const explanation = `${holder} is gone, and ${awaited.join('; ')}. ${keys.join(', ')} stay held until then.`
  return { step: 'keep', requestId, holder, keys, reason: 'OrphanHeld', explanation }
}

/** What is left of what was done, in words; undefined when it has ended. */
function findEffect({ key, uid, bootID }: LedgerEntry, seen: KeyFacts | undefined): string | undefined {
  // A place of a limit is taken by the node, and free when the node is.
  if (isLimit({ key })) return undefined
  if (seen === undefined) return `${key} could not be read`
  if (seen.kind === 'node') {
    const { node } = seen
    if (node === undefined || isAnother(node.uid, uid)) return undefined
    if (!node.isReady) return `${key} is not ready`
    const isBack = bootID !== undefined && bootID !== '' && node.bootID !== '' && node.bootID !== bootID
    // Cordoned and in its old boot, it may be rebooted at any time by whoever waited for the drain.
    return isBack || !node.isCordoned ? undefined : `${key} is cordoned and has not been rebooted yet`
  }
  if (seen.kind === 'budget') {
    const { budget } = seen
    if (budget === undefined || isAnother(budget.uid, uid)) return undefined
    if (!budget.isCounted) return `the pods of ${key} have not been counted`
    const { currentHealthy, desiredHealthy } = budget
    return currentHealthy >= desiredHealthy ? undefined : `${key} has ${currentHealthy} of ${desiredHealthy} pods`
  }
  const { storage } = seen
  if (storage === undefined || isAnother(storage.uid, uid)) return undefined
  if (!storage.isClean.known) return `it is not known whether ${key} is clean: ${storage.isClean.why}`
  return storage.isClean.value ? undefined : `${key} is not clean yet`
}

/** An object that was made anew under the same name. Whoever did not write down which one it was meant the present one. */
function isAnother(present: string, held: string): boolean {
  return held !== '' && present !== held
}
