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
 * Ceph may be told to spread copies over another type while a node is drained. The hold of that node is then named after what is no failure domain
 * any more, and would keep every OSD where it is, those of its own node too. So it counts for the domain that the node is in now.
 *
 * Of several that shared a domain and are in different ones now, the first to be granted goes on.
 * Fails closed: a hold whose node has no OSDs, or OSDs of several domains, keeps its name and lets nothing go.
 */
export function presentHolds(
  arbiter: Observed<StorageArbiter> | undefined,
  layout: Pick<Layout, 'domains' | 'osds'>,
): PresentHolds {
  if (arbiter?.known !== true) return { arbiter, ledgerScope: (domain) => domain }
  const { others } = arbiter.value
  const names = new Set(layout.domains.map(({ name }) => name))
  const isPresent = ({ scope }: LedgerEntry) => scope === '' || scope.split('+').some((name) => names.has(name))
  const former = others.filter((entry) => !isPresent(entry)).sort((a, b) => a.epoch - b.epoch)
  const [first] = former
  if (first === undefined) return { arbiter, ledgerScope: (domain) => domain }
  const scopeOf = (entry: LedgerEntry) => presentDomain(entry, arbiter.value, layout) ?? entry.scope
  const present = scopeOf(first)
  const goingOn = former.map((entry) => ({ ...entry, scope: scopeOf(entry) })).filter(({ scope }) => scope === present)
  return {
    arbiter: known({ ...arbiter.value, others: [...others.filter(isPresent), ...goingOn] }),
    ledgerScope: (domain) => (domain === present ? first.scope : domain),
  }
}

function presentDomain(
  { requestId }: LedgerEntry,
  { heldNodes = {} }: StorageArbiter,
  { osds }: Pick<Layout, 'osds'>,
): string | undefined {
  const nodes = heldNodes[requestId] ?? []
  const there = osds.filter(({ nodeName }) => nodeName !== undefined && nodes.includes(nodeName))
  const domains = new Set(there.map(({ domain }) => domain))
  return domains.size === 1 ? [...domains][0] : undefined
}
