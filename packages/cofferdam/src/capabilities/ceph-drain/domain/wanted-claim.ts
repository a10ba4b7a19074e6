import {
  conflictingHolder,
  earlierTicket,
  ownRequestId,
  scopeOf,
  storageKey,
} from '../../../ledger/rules/storage-arbiter.ts'
import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import type { ChosenDomains } from './choose-domains.ts'
import { type Layout, osdNames } from './layout.ts'
import type { PresentHolds } from './present-holds.ts'
import type { CephDrainSnapshot } from './snapshot.ts'

/**
 * The failure domains that are down or may go down are held, whether somebody drains them or they failed by themselves.
 * Where somebody else holds another one, or waits for it, nothing is asked for: what failed has failed, and the budgets follow
 * the data.
 */
export function wantedClaim(
  { cluster, arbiter, ledgerScope }: Pick<CephDrainSnapshot, 'cluster'> & PresentHolds,
  layout: Layout,
  { chosen }: Pick<ChosenDomains, 'chosen'>,
): StorageClaim | undefined {
  if (arbiter?.known !== true) return undefined
  const hurt = new Set(layout.missing.flatMap(({ domain }) => (domain === undefined ? [] : [domain])))
  const wanted = chosen.length > 0 ? chosen : [...hurt]
  if (wanted.length === 0) return layout.isAtRest ? { wants: 'release' } : undefined
  const isFree = (scope: string) =>
    conflictingHolder(arbiter.value, scope) === undefined && earlierTicket(arbiter.value, scope) === undefined
  const domain = [scopeOf(wanted), ...wanted].find(isFree)
  if (domain === undefined) return undefined
  const scope = ledgerScope(domain)
  // Somebody holds all of the storage, this domain with it: nobody can stand beside that.
  if (scope === '') return undefined
  return {
    wants: 'hold',
    requestId: ownRequestId(cluster, scope),
    holder: `ceph-drain of ${cluster.namespace}/${cluster.name}: ${explainLoss(layout, wanted)}`,
    claim: { key: storageKey(cluster), uid: cluster.uid, scope },
  }
}

const mostNamed = 10

function explainLoss({ domains, missing, type }: Layout, wanted: readonly string[]): string {
  const lost = missing.filter(({ domain }) => domain !== undefined && wanted.includes(domain)).map(({ id }) => id)
  const drained = domains.filter(({ name }) => wanted.includes(name)).flatMap(({ drainedNodes }) => drainedNodes)
  const words = [
    ...(lost.length === 0 ? [] : [`${shortened(lost, osdNames)} down`]),
    ...(drained.length === 0 ? [] : [`${shortened(drained, (nodes) => nodes.join(', '))} being drained`]),
  ]
  return words.length === 0 ? `${type} ${shortened(wanted, (names) => names.join(', '))} recovers` : words.join(', ')
}

/** The text about a holder has to fit into the ledger, however much is down. */
function shortened<T>(items: readonly T[], inWords: (items: readonly T[]) => string): string {
  if (items.length <= mostNamed) return inWords(items)
  return `${inWords(items.slice(0, mostNamed))} and ${items.length - mostNamed} more`
}
