import type { CephClusterView } from '../../safety/ceph-cluster-view.ts'
import { known, type Observed } from '../../shared/observed.ts'
import type { Reason } from '../../shared/reasons.ts'
import { sha256 } from '../../shared/sha256.ts'
import { doClaimsConflict } from './claim.ts'
import { nodeOf } from './keys.ts'
import type { EntryState, Ledger, LedgerEntry } from './ledger.ts'
import { isInLine, type Ticket } from './queue.ts'

/** What the ledger says of the key of one Ceph cluster. */
export interface StorageArbiter {
  readonly key: string
  /** What ceph-drain holds for this very cluster. */
  readonly own: readonly LedgerEntry[]
  readonly others: readonly LedgerEntry[]
  /** Who waits for the key, and for nothing outside the ledger. */
  readonly tickets: readonly Ticket[]
  /** Nodes that the others hold together with the key, by request. */
  readonly heldNodes?: Readonly<Record<string, readonly string[]>>
}

type ClusterId = Pick<CephClusterView, 'namespace' | 'name' | 'uid'>

export function storageKey({ namespace, name }: Pick<ClusterId, 'namespace' | 'name'>): string {
  return `${storageKeyPrefix(namespace)}${name}`
}

/** Of all clusters of a namespace. */
export function storageKeyPrefix(namespace: string): string {
  return `storage/${namespace}/`
}

/**
 * The scope under which failure domains are held together. Entries of one key with different scopes cannot stand side by side, so
 * several domains that are open at once share one entry; whoever wants a single one of them waits until that is over.
 */
export function scopeOf(domains: readonly string[]): string {
  const joined = [...new Set(domains)].sort().join('+')
  return joined.length <= longestScope ? joined : `${domains.length}-domains-${sha256(joined).slice(0, 32)}`
}

/** With the prefix and a uid it must fit into the 128 characters of a request's id. */
const longestScope = 80

export function ownRequestId({ uid }: Pick<ClusterId, 'uid'>, scope: string): string {
  return `${ownPrefix({ uid })}${scope}`
}

export function isOwnRequest({ uid }: Pick<ClusterId, 'uid'>, requestId: string): boolean {
  return requestId.startsWith(ownPrefix({ uid }))
}

function ownPrefix({ uid }: Pick<ClusterId, 'uid'>): string {
  return `ceph-drain/${uid}/`
}

export function arbiterOf({ entries, tickets }: Ledger, cluster: ClusterId): StorageArbiter {
  const key = storageKey(cluster)
  const held = entries.filter((entry) => entry.key === key)
  const others = held.filter(({ requestId }) => !isOwnRequest(cluster, requestId))
  const nodesOf = (request: string) =>
    entries.flatMap((entry) => (entry.requestId === request ? (nodeOf(entry.key) ?? []) : []))
  return {
    key,
    own: held.filter(({ requestId }) => isOwnRequest(cluster, requestId)),
    others,
    tickets: tickets.filter((ticket) => isInLine(ticket) && ticket.claims.some((claim) => claim.key === key)),
    ...(others.length > 0 && {
      heldNodes: Object.fromEntries(others.map(({ requestId }) => [requestId, nodesOf(requestId)])),
    }),
  }
}

/** What the ledger says of a cluster, as a snapshot has it; nothing where there is no ledger. */
export function storageArbiter(
  ledger: Observed<Ledger> | undefined,
  cluster: ClusterId,
): { readonly arbiter?: Observed<StorageArbiter> } {
  if (ledger === undefined) return {}
  return { arbiter: ledger.known ? known(arbiterOf(ledger.value, cluster)) : ledger }
}

/**
 * Who waits for the key and comes before whoever wants it for this scope. A domain that somebody holds already is shared: that
 * delays nobody in the queue.
 */
export function earlierTicket({ key, own, others, tickets }: StorageArbiter, scope: string): Ticket | undefined {
  if ([...own, ...others].some((entry) => entry.scope === scope)) return undefined
  return tickets.find(({ claims }) => claims.some((claim) => doClaimsConflict(claim, { key, scope })))
}

export function conflictingHolder({ key, others }: StorageArbiter, scope: string): LedgerEntry | undefined {
  return others.find((entry) => doClaimsConflict(entry, { key, scope }))
}

/** What the ledger has to say on which failure domains may be open. */
export interface OpeningRule {
  /** May an OSD of the domain be the first to go? */
  mayBegin(domain: string): boolean
  mayOpen(domains: readonly string[]): boolean
  /** Why the domain may not begin, or not be open, and what would change that; undefined when the ledger does not mind. */
  hindranceTo(domain: string, step: 'begin' | 'open'): Hindrance | undefined
}

export interface Hindrance {
  readonly reason: Extract<Reason, 'StorageKeyHeld' | 'LedgerUnknown'>
  readonly explanation: string
}

/**
 * Guarantees: no domain may begin or be open beside one that somebody else holds; who waits for the key is not overtaken by a
 * domain that is not open yet. Whoever only waits keeps no domain from beginning: it steps aside when data is missing.
 * Fails closed: without the ledger only what is open already may stay so.
 */
export function openingRule(
  arbiter: Observed<StorageArbiter> | undefined,
  isOpenAlready: (domain: string) => boolean,
): OpeningRule {
  if (arbiter === undefined) return freeRule
  if (!arbiter.known) return blindRule(arbiter.why, isOpenAlready)
  const seen = arbiter.value
  const waitingBefore = (domains: readonly string[]): Ticket | undefined =>
    domains.every(isOpenAlready) ? undefined : earlierTicket(seen, scopeOf(domains))
  return {
    mayBegin: (domain) => conflictingHolder(seen, domain) === undefined,
    mayOpen: (domains) =>
      conflictingHolder(seen, scopeOf(domains)) === undefined && waitingBefore(domains) === undefined,
    hindranceTo(domain, step): Hindrance | undefined {
      const holder = conflictingHolder(seen, domain) ?? (step === 'open' ? waitingBefore([domain]) : undefined)
      return holder && { reason: 'StorageKeyHeld', explanation: explainHolder(seen.key, holder) }
    },
  }
}

/** The rule for a cluster whose disruptions nobody else arbitrates. */
export const freeRule: OpeningRule = { mayBegin: () => true, mayOpen: () => true, hindranceTo: () => undefined }

function blindRule(why: string, isOpenAlready: (domain: string) => boolean): OpeningRule {
  const hindrance: Hindrance = { reason: 'LedgerUnknown', explanation: `who holds the storage is not known: ${why}` }
  return {
    mayBegin: isOpenAlready,
    mayOpen: (domains) => domains.every(isOpenAlready),
    hindranceTo: (domain) => (isOpenAlready(domain) ? undefined : hindrance),
  }
}

function explainHolder(key: string, holder: LedgerEntry | Ticket): string {
  const who = holder.holder === '' ? `request ${holder.requestId}` : holder.holder
  const since = holder.since === '' ? '' : ` since ${holder.since}`
  if (!('state' in holder)) return `${who} has waited for ${key}${since} and is first in the queue; ${waysOut.Waiting}`
  const what = holder.scope === '' ? `all of ${key}` : `${holder.scope} of ${key}`
  return `${who} holds ${what}${since}; ${waysOut[holder.state]}`
}

const waysOut: Record<EntryState | 'Waiting', string> = {
  Waiting: 'it continues or steps aside by itself',
  Granted: 'it continues or gives up soon',
  Acting: 'it is released when what was taken down is back and all data is clean',
  Orphaned: 'its holder is gone; it is released when what the holder started has ended, or by break-glass',
}
