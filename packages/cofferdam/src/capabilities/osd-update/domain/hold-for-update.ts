import type { StorageHold } from '../../../ledger/rules/hold-storage.ts'
import { adopt, entriesOf, grant, intend, type Ledger, release } from '../../../ledger/rules/ledger.ts'
import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'

/**
 * Holds the storage for an update, or carries on what an earlier process held for it.
 *
 * Guarantees: when it cannot be had nothing changes, and no place in the queue is taken; what others hold of the same cluster,
 * ceph-drain among them, is never replaced. Only with an epoch in the answer may anything start.
 */
export function holdForUpdate(
  ledger: Ledger,
  wanted: Extract<StorageClaim, { wants: 'hold' }>,
  { epoch, now }: { readonly epoch: number | undefined; readonly now: string },
): StorageHold {
  const { requestId, holder, claim } = wanted
  const [held] = entriesOf(ledger, requestId)
  if (held !== undefined && held.state !== 'Granted') {
    if (held.epoch === epoch && held.state !== 'Orphaned') return { ledger, epoch }
    return adopt(ledger, { requestId, holder }) ?? { ledger, epoch: undefined }
  }
  const refused: StorageHold = { ledger, epoch: undefined }
  const answer = grant(ledger, { requestId, holder, claims: [claim], now })
  if (!answer.granted) return refused
  const begun = intend(answer.ledger, { requestId, epoch: answer.epoch })
  return begun.ok ? { ledger: begun.ledger, epoch: answer.epoch } : refused
}

/** Gives back what is held for the update of this cluster, under whichever epoch. */
export function giveBackAfterUpdate(
  ledger: Ledger,
  { cluster, epoch }: { readonly cluster: { readonly uid: string }; readonly epoch: number | undefined },
): StorageHold {
  const requestId = updateRequestId(cluster)
  const [held] = entriesOf(ledger, requestId)
  if (held === undefined) return { ledger, epoch: undefined }
  const isCurrent = held.epoch === epoch && held.state !== 'Orphaned'
  const carried = isCurrent ? { ledger, epoch: held.epoch } : adopt(ledger, { requestId, holder: held.holder })
  const released = carried && release(carried.ledger, { requestId, epoch: carried.epoch })
  return { ledger: released?.ok ? released.ledger : ledger, epoch: undefined }
}
