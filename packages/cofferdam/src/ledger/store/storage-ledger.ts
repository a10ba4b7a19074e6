import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { CephClusterView } from '../../safety/ceph-cluster-view.ts'
import { type DisruptionLedger, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import { type Observed, unknown } from '../../shared/observed.ts'
import type { Ledger } from '../rules/ledger.ts'
import { parseLedger } from '../rules/parse-ledger.ts'
import { arbiterOf } from '../rules/storage-arbiter.ts'
import type { LedgerStore } from './ledger-store.ts'

/** What whoever holds something needs of the ledger. */
export interface HeldLedger {
  /** For reading: it costs nothing while nothing happens. */
  readonly view: Pick<WatchView<DisruptionLedger>, 'synced' | 'get'>
  /** For changing, on what is true at that time. */
  readonly store: Pick<LedgerStore, 'change'>
  /** How often a holder shows that it lives. */
  readonly renewMs: number
}

export interface StorageLedger extends HeldLedger {
  readonly view: WatchView<DisruptionLedger>
}

/** As it was seen last. */
export function observeLedger(view: HeldLedger['view']): Observed<Ledger> {
  if (!view.synced) return unknown('the ledger has not been read yet')
  return parseLedger(view.get({ name: ledgerName }))
}

export type ClusterId = Pick<CephClusterView, 'namespace' | 'name' | 'uid'>

/**
 * Whether a change of the ledger is about who holds the cluster, or waits for it; heartbeats are not, nor is what the request
 * itself has just taken or released.
 */
export function isRelevantStorageChange(
  change: ViewChange<DisruptionLedger>,
  cluster: ClusterId,
  self?: string,
): boolean {
  if (change.type !== 'changed') return true
  return !isSameJson(relevantPartOf(change.previous, cluster, self), relevantPartOf(change.value, cluster, self))
}

function relevantPartOf(object: DisruptionLedger, cluster: ClusterId, self: string | undefined) {
  const ledger = parseLedger(object)
  if (!ledger.known) return [ledger.why]
  const { own, others, tickets } = arbiterOf(ledger.value, cluster)
  return [
    ...[...own, ...others]
      .filter(({ requestId, state }) => requestId !== self || state === 'Orphaned')
      .map(({ requestId, scope, state }) => `${requestId} ${scope} ${state}`),
    ...tickets.map(({ requestId, number }) => `${requestId} ${number}`),
  ]
}
