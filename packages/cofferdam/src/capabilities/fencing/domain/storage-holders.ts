import type { Ledger, LedgerEntry } from '../../../ledger/rules/ledger.ts'
import { arbiterOf } from '../../../ledger/rules/storage-arbiter.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { FencedCluster, StorageHolder } from './snapshot.ts'

type ClusterId = Pick<FencedCluster, 'namespace' | 'name' | 'uid'>

const prefix = 'fencing/'

/** Every request of a fence of this cluster begins with it. */
export function fencePrefix({ uid }: Pick<ClusterId, 'uid'>): string {
  return `${prefix}${uid}/`
}

export function isFenceRequest(requestId: string): boolean {
  return requestId.startsWith(prefix)
}

/** Where drains are under way, as far as that is known. */
export interface DrainedDomains {
  readonly domains: readonly { readonly domain: string; readonly nodes: readonly string[] }[]
  readonly closed: ReadonlySet<string>
}

/** What the ledger says of a cluster, as fencing counts it; nothing where there is no ledger. */
export function storageHolders(
  ledger: Observed<Ledger> | undefined,
  cluster: ClusterId,
  {
    drained,
    isReleased = () => false,
  }: {
    readonly drained: DrainedDomains | undefined
    /** Whether a fence has released what this ledger still shows. */
    readonly isReleased?: (requestId: string) => boolean
  },
): Pick<FencedCluster, 'heldBy' | 'heldForFences'> {
  if (ledger === undefined) return {}
  if (!ledger.known) return { heldBy: ledger, heldForFences: [] }
  return {
    heldBy: known(holdersOf(ledger.value, cluster, drained)),
    heldForFences: ledger.value.entries
      .filter(({ requestId }) => requestId.startsWith(fencePrefix(cluster)) && !isReleased(requestId))
      .map(({ scope }) => scope),
  }
}

/**
 * Who keeps machines of a cluster from being fenced: whoever holds its storage but fencing itself.
 *
 * Whoever was granted a failure domain and has not begun shares it with nobody: it begins only when it sees fencing closed.
 * What ceph-drain holds counts while a node there is closed to new pods; a domain that is merely hurt is nobody's disruption.
 */
function holdersOf(ledger: Ledger, cluster: ClusterId, drained: DrainedDomains | undefined): readonly StorageHolder[] {
  const { own, others } = arbiterOf(ledger, cluster)
  const strangers = others.filter(({ requestId }) => !requestId.startsWith(fencePrefix(cluster)))
  return [...strangers, ...own.filter((entry) => isBeingDrained(entry, drained))].map(
    ({ holder, requestId, scope, state }) => ({
      holder: holder === '' ? `request ${requestId}` : holder,
      requestId,
      scope: state === 'Granted' ? '' : scope,
    }),
  )
}

/** Fails closed: what is held counts as drained while it is not known which failure domains there are. */
function isBeingDrained({ scope }: LedgerEntry, drained: DrainedDomains | undefined): boolean {
  if (drained === undefined || drained.domains.length === 0) return true
  const { domains, closed } = drained
  const named = domains.filter(({ domain }) => scope.split('+').includes(domain))
  return (named.length === 0 ? domains : named).some(({ nodes }) => nodes.some((node) => closed.has(node)))
}
