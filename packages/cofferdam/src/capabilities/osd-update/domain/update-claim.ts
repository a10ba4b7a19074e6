import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { Ticket } from '../../../ledger/rules/queue.ts'
import { storageKey } from '../../../ledger/rules/storage-arbiter.ts'
import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import type { OsdUpdateSnapshot, UpdatedCluster } from './snapshot.ts'

type Seen = Pick<OsdUpdateSnapshot, 'cluster' | 'arbiter'>

/** Whether the ledger says that the storage is held for this very update. */
export function isHeldForUpdate({ cluster, arbiter }: Seen): boolean {
  return arbiter?.known === true && arbiter.value.others.some(({ requestId }) => requestId === updateRequestId(cluster))
}

/** Whether somebody holds a part of the storage for something else, ceph-drain among them. */
export function isHeldByOthers(seen: Seen): boolean {
  return otherHolder(seen) !== undefined
}

function otherHolder({ cluster, arbiter }: Seen): LedgerEntry | undefined {
  if (arbiter?.known !== true) return undefined
  const requestId = updateRequestId(cluster)
  return [...arbiter.value.own, ...arbiter.value.others].find((entry) => entry.requestId !== requestId)
}

/**
 * Who keeps new OSDs from starting: whoever holds a part of the storage, or waits for one. An update can take hours, so a drain that
 * waits gets the storage as soon as what runs is back.
 */
export function whoComesFirst(seen: Seen): string | undefined {
  const { cluster, arbiter } = seen
  if (arbiter?.known !== true) return undefined
  const { key, tickets } = arbiter.value
  const holder = otherHolder(seen)
  if (holder !== undefined) {
    return `${nameOf(holder)} holds ${holder.scope === '' ? 'all' : holder.scope} of ${key}${sinceOf(holder)}`
  }
  const waiting = tickets.find((ticket) => ticket.requestId !== updateRequestId(cluster))
  return waiting && `${nameOf(waiting)} has waited for ${key}${sinceOf(waiting)}`
}

/**
 * What the update wants of the ledger: all failure domains at once, before anything starts and until everything is back and clean.
 */
export function wantedUpdateClaim(
  seen: Seen,
  given: { readonly isActive: boolean; readonly isClean: boolean },
): StorageClaim | undefined {
  const { cluster, arbiter } = seen
  if (arbiter?.known !== true) return undefined
  const isHeld = isHeldForUpdate(seen)
  if (!given.isActive) return isHeld && given.isClean ? { wants: 'release' } : undefined
  if (!isHeld && whoComesFirst(seen) !== undefined) return undefined
  return updateClaimOf(cluster)
}

/** All failure domains of the cluster. */
export function updateClaimOf(
  cluster: Pick<UpdatedCluster, 'namespace' | 'name' | 'uid'>,
): Extract<StorageClaim, { wants: 'hold' }> {
  return {
    wants: 'hold',
    requestId: updateRequestId(cluster),
    holder: `osd-update of ${cluster.namespace}/${cluster.name}`,
    claim: { key: storageKey(cluster), uid: cluster.uid, scope: '' },
  }
}

function nameOf({ holder, requestId }: LedgerEntry | Ticket): string {
  return holder === '' ? `request ${requestId}` : holder
}

function sinceOf({ since }: LedgerEntry | Ticket): string {
  return since === '' ? '' : ` since ${since}`
}
