import {
  beginHold,
  carryOn,
  type HoldRequest,
  type HoldRules,
  type HoldStep,
} from '../../../ledger/rules/hold-rules.ts'
import { entriesOf, type Ledger } from '../../../ledger/rules/ledger.ts'
import { type StorageArbiter, storageKey } from '../../../ledger/rules/storage-arbiter.ts'
import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import type { UpdatedCluster } from './snapshot.ts'

export type UpdateId = Pick<UpdatedCluster, 'namespace' | 'name' | 'uid'>
export type UpdateClaim = Extract<StorageClaim, { wants: 'hold' }>

/** How updates take part in the ledger: all failure domains of a cluster, while any OSD of it is restarting. */
export const updateHold: HoldRules<UpdateId, UpdateClaim> = {
  nameOf: ({ uid }) => uid,
  describe: (task, cluster) => `${task} ${storageKey(cluster)} for its update`,
  own: (ledger, cluster) => entriesOf(ledger, updateRequestId(cluster)),
  requestIdOf: ({ requestId }) => requestId,
  hold: holdForUpdate,
}

/**
 * Holds the storage for an update, or carries on what an earlier process held for it.
 *
 * Guarantees: when it cannot be had nothing changes, and no place in the queue is taken; what others hold of the same cluster,
 * ceph-drain among them, is never replaced. Only with an epoch in the answer may anything start.
 */
export function holdForUpdate(
  ledger: Ledger,
  { wanted, epoch, now }: Pick<HoldRequest<UpdateId, UpdateClaim>, 'wanted' | 'epoch' | 'now'>,
): HoldStep {
  const { requestId, holder, claim } = wanted
  const [held] = entriesOf(ledger, requestId)
  if (held !== undefined && held.state !== 'Granted') return carryOn(ledger, held, { epoch, holder })
  const answer = beginHold(ledger, { requestId, holder, claims: [claim], now }, { asksNobody: false })
  return { ledger: answer.ledger, epoch: answer.granted ? answer.epoch : undefined }
}

/** How long those who waited get to take what was released to them: the storage has to allow their node to go first. */
const asideMs = 15_000

/** Requests that waited when an update released the storage, and until when it steps aside for them. */
export interface SteppedAside {
  readonly tickets: StorageArbiter['tickets']
  readonly untilMs: number
}

export function stepAside({ tickets }: Pick<StorageArbiter, 'tickets'>, nowMs: number): SteppedAside | undefined {
  return tickets.length === 0 ? undefined : { tickets, untilMs: nowMs + asideMs }
}

/** The ledger as an update obeys it: those it stepped aside for wait still, though they hold nothing and ask for nothing yet. */
export function withThoseWhoWaited(
  arbiter: StorageArbiter,
  aside: SteppedAside | undefined,
  nowMs: number,
): StorageArbiter {
  if (aside === undefined || nowMs >= aside.untilMs) return arbiter
  const { own, others, tickets } = arbiter
  const present = new Set([...own, ...others, ...tickets].map(({ requestId }) => requestId))
  return { ...arbiter, tickets: [...tickets, ...aside.tickets.filter(({ requestId }) => !present.has(requestId))] }
}
