import type { CephClusterView } from '../../safety/ceph-cluster-view.ts'
import { adopt, grant, intend, type Ledger, type LedgerEntry, release, renew } from './ledger.ts'
import { arbiterOf, earlierTicket } from './storage-arbiter.ts'
import type { StorageClaim } from './storage-claim.ts'

/** The ledger after a change, and the epoch under which ceph-drain holds the key then; undefined when it does not. */
export interface StorageHold {
  readonly ledger: Ledger
  readonly epoch: number | undefined
}

interface Holder {
  readonly cluster: Pick<CephClusterView, 'namespace' | 'name' | 'uid'>
  /** Under which this process held the key last. */
  readonly epoch: number | undefined
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
  wanted: Extract<StorageClaim, { wants: 'hold' }>,
  { cluster, epoch, now }: Holder & { readonly now: string },
): StorageHold {
  const { requestId, holder, claim } = wanted
  const { own } = arbiterOf(ledger, cluster)
  const [held] = own
  if (held !== undefined && own.length === 1 && held.requestId === requestId && held.state !== 'Granted') {
    return carryOn(ledger, held, epoch)
  }
  const without = own.length === 0 ? ledger : withoutEntries(ledger, own)
  const refused: StorageHold = { ledger, epoch: undefined }
  if (earlierTicket(arbiterOf(without, cluster), claim.scope) !== undefined) return refused
  const answer = grant({ ...without, tickets: [] }, { requestId, holder, claims: [claim], now })
  if (!answer.granted) return refused
  const begun = intend({ ...answer.ledger, tickets: ledger.tickets }, { requestId, epoch: answer.epoch })
  return begun.ok ? { ledger: begun.ledger, epoch: answer.epoch } : refused
}

/** Shows that whoever holds the key lives. What was taken for dead meanwhile is taken up again. */
export function renewStorage(ledger: Ledger, { cluster, epoch }: Holder): StorageHold {
  const [held] = arbiterOf(ledger, cluster).own
  if (held === undefined) return { ledger, epoch: undefined }
  const carried = carryOn(ledger, held, epoch)
  if (carried.ledger !== ledger || epoch === undefined) return carried
  const renewed = renew(ledger, { requestId: held.requestId, epoch })
  return renewed.ok ? { ledger: renewed.ledger, epoch } : carried
}

/** Gives back all that ceph-drain holds for the cluster. */
export function giveBackStorage(ledger: Ledger, { cluster, epoch }: Holder): StorageHold {
  const freed = arbiterOf(ledger, cluster).own.reduce<Ledger>((left, held) => {
    const carried = carryOn(left, held, epoch)
    if (carried.epoch === undefined) return left
    const released = release(carried.ledger, { requestId: held.requestId, epoch: carried.epoch })
    return released.ok ? released.ledger : left
  }, ledger)
  return { ledger: freed, epoch: undefined }
}

function carryOn(ledger: Ledger, held: LedgerEntry, epoch: number | undefined): StorageHold {
  if (held.epoch === epoch && held.state !== 'Orphaned') return { ledger, epoch }
  const { requestId, holder } = held
  return adopt(ledger, { requestId, holder }) ?? { ledger, epoch: undefined }
}

function withoutEntries(ledger: Ledger, gone: readonly LedgerEntry[]): Ledger {
  return { ...ledger, entries: ledger.entries.filter((entry) => !gone.includes(entry)) }
}
