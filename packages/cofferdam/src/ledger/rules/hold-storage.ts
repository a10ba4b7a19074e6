import type { CephClusterView } from '../../safety/ceph-cluster-view.ts'
import { beginHold, carryOn, type HoldRequest, type HoldRules, type HoldStep } from './hold-rules.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import { arbiterOf, earlierTicket, storageKey } from './storage-arbiter.ts'
import type { StorageClaim } from './storage-claim.ts'

type ClusterId = Pick<CephClusterView, 'namespace' | 'name' | 'uid'>
type Wanted = Extract<StorageClaim, { wants: 'hold' }>

/** How ceph-drain takes part in the ledger: which failure domains of a cluster it holds. */
export const storageHold: HoldRules<ClusterId, Wanted> = {
  nameOf: ({ namespace, name }) => `${namespace}/${name}`,
  describe: (task, cluster, wanted) =>
    `${task} ${storageKey(cluster)}${wanted === undefined ? '' : ` for ${wanted.claim.scope}`}`,
  own: (ledger, cluster) => arbiterOf(ledger, cluster).own,
  requestIdOf: ({ requestId }) => requestId,
  hold: holdStorage,
}

/**
 * Holds the key as wanted, in place of whatever else ceph-drain holds for the cluster, and marks it as acted upon: what is
 * held here is down already, or may go at once.
 *
 * Guarantees: when it cannot be had nothing changes, and no place in the queue is taken; what an earlier process held is
 * carried on under an epoch of our own.
 */
export function holdStorage(
  ledger: Ledger,
  { id: cluster, wanted, epoch, now }: HoldRequest<ClusterId, Wanted>,
): HoldStep {
  const { requestId, holder, claim } = wanted
  const { own } = arbiterOf(ledger, cluster)
  const [held] = own
  if (held !== undefined && own.length === 1 && held.requestId === requestId && held.state !== 'Granted') {
    return carryOn(ledger, held, { epoch })
  }
  const without = own.length === 0 ? ledger : withoutEntries(ledger, own)
  const refused: HoldStep = { ledger, epoch: undefined }
  if (earlierTicket(arbiterOf(without, cluster), claim.scope) !== undefined) return refused
  const answer = beginHold(without, { requestId, holder, claims: [claim], now }, { asksNobody: true })
  return answer.granted ? { ledger: answer.ledger, epoch: answer.epoch } : refused
}

function withoutEntries(ledger: Ledger, gone: readonly LedgerEntry[]): Ledger {
  return { ...ledger, entries: ledger.entries.filter((entry) => !gone.includes(entry)) }
}
