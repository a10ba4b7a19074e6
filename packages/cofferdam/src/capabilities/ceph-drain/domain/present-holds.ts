import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { Layout } from './layout.ts'

/** What the ledger says, in the failure domains of today. */
export interface PresentHolds {
  readonly arbiter: Observed<StorageArbiter> | undefined
  /** Under which name the ledger has a domain: that of somebody who holds it already, or its own. */
  readonly ledgerScope: (domain: string) => string
}

/**
 * Ceph may be told to spread copies over another type while a node is drained, or to have an OSD under another host. The hold of that node is
 * then named after a failure domain that its OSDs are not in any more, and would keep them where they are. So it counts for the one they are in
 * now.
 *
 * The same goes for a hold of all of the storage that has a node: it was rebuilt while nobody knew the domain. An update has none.
 *
 * Of several that shared a domain and are in different ones now, the first to be granted goes on; a fence, which has no node here and waits for
 * none of them, counts beside it.
 * Fails closed: a hold whose node has no OSDs, or OSDs of several domains, keeps its name and lets nothing go.
 */
export function presentHolds(
  arbiter: Observed<StorageArbiter> | undefined,
  { osds }: Pick<Layout, 'osds'>,
): PresentHolds {
  const asNamed: PresentHolds = { arbiter, ledgerScope: (domain) => domain }
  if (arbiter?.known !== true) return asNamed
  const { others, heldNodes = {} } = arbiter.value
  const nodesOf = ({ requestId }: LedgerEntry) => heldNodes[requestId] ?? []
  const presentScope = (entry: LedgerEntry) => {
    const { scope } = entry
    const domain = domainOf(nodesOf(entry), osds)
    return domain === undefined || scope.split('+').includes(domain) ? scope : domain
  }
  if (others.every((entry) => presentScope(entry) === entry.scope)) return asNamed
  const [first] = others.filter((entry) => nodesOf(entry).length > 0).sort((a, b) => a.epoch - b.epoch) as [LedgerEntry]
  const present = presentScope(first)
  const goingOn = others
    .map((entry) => ({ ...entry, scope: presentScope(entry) }))
    .filter((entry) => entry.scope === present || nodesOf(entry).length === 0)
  return {
    arbiter: known({ ...arbiter.value, others: goingOn }),
    ledgerScope: (domain) => (domain === present ? first.scope : domain),
  }
}

/** The one failure domain of all OSDs there. */
function domainOf(nodes: readonly string[], osds: Layout['osds']): string | undefined {
  const there = osds.filter(({ nodeName }) => nodeName !== undefined && nodes.includes(nodeName))
  const domains = new Set(there.map(({ domain }) => domain))
  return domains.size === 1 ? [...domains][0] : undefined
}
