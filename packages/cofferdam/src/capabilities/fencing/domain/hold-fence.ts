import {
  beginHold,
  type HoldRequest,
  type HoldRules,
  type HoldStep,
  releaseHold,
  renewHold,
} from '../../../ledger/rules/hold-rules.ts'
import { entriesOf, type Ledger } from '../../../ledger/rules/ledger.ts'
import { isOwnRequest, scopeOf, storageKey } from '../../../ledger/rules/storage-arbiter.ts'
import type { Fence } from './decision.ts'
import { fencedText } from './fenced-node.ts'
import { fencePrefix, isFenceRequest } from './storage-holders.ts'

/** How fences take part in the ledger, each by its request: the storage key of their cluster, for their failure domain. */
export const fenceHold: HoldRules<string, Fence> = {
  nameOf: (requestId) => requestId,
  describe: (task) =>
    task === 'release'
      ? 'release the storage of machines that were fenced'
      : 'hold the storage of machines that are being fenced',
  own: entriesOf,
  requestIdOf: fenceRequestId,
  hold: holdFence,
}

/** Fences of one failure domain of a cluster are one request. */
export function fenceRequestId({ cluster, scope }: Pick<Fence, 'cluster' | 'scope'>): string {
  return `${fencePrefix(cluster)}${claimedScope(scope)}`
}

/** In the words of ceph-drain, so that a fence and a drain of the same failure domain go together. */
function claimedScope(scope: string): string {
  return scope === '' ? '' : scopeOf([scope])
}

/** What has to be held while these fences are under way, by request. */
export function neededHolds(fences: readonly Fence[]): ReadonlyMap<string, Fence> {
  return new Map(fences.filter(({ isOver }) => !isOver).map((fence) => [fenceRequestId(fence), fence]))
}

/** Requests of fences that hold something no fence needs any more, of whichever cluster. What is to be moved stays until it was. */
export function unneededHolds(ledger: Ledger, needed: ReadonlyMap<string, Fence>): readonly string[] {
  const toMove = [...needed].flatMap(([id, fence]) =>
    entriesOf(ledger, id).length === 0 ? (formerRequestId(fence) ?? []) : [],
  )
  return ledger.entries
    .map(({ requestId }) => requestId)
    .filter((id) => isFenceRequest(id) && !needed.has(id) && !toMove.includes(id))
}

/** Under which request it holds the failure domain on record, where that is not the present one. */
export function formerRequestId({ cluster, formerScope }: Fence): string | undefined {
  return formerScope === undefined ? undefined : fenceRequestId({ cluster, scope: formerScope })
}

/**
 * Holds the key for a fence, or renews the heartbeat of the fence. Those who wait for the key are passed by: a fence that has begun
 * asks nobody. Where somebody else holds it the fence goes on all the same, and that is reported. What it held for the failure domain on
 * record becomes that of the present one in the same change, so that nobody is let in between.
 */
export function holdFence(
  ledger: Ledger,
  { id: requestId, wanted: fence, epoch, now }: HoldRequest<string, Fence>,
): HoldStep {
  const { cluster } = fence
  const clusterName = `${cluster.namespace}/${cluster.name}`
  const holder = `fencing of ${clusterName}: ${fencedText(fence)} is being fenced`
  const held = entriesOf(ledger, requestId)
  if (held.length > 0) return renewHold(ledger, held, { epoch, holder })
  const claim = { key: storageKey(cluster), uid: cluster.uid, scope: claimedScope(fence.scope) }
  const formerId = formerRequestId(fence)
  const before = formerId === undefined ? ledger : releaseHold(ledger, entriesOf(ledger, formerId), undefined)
  const answer = beginHold(before, { requestId, holder, claims: [claim], now }, { asksNobody: true })
  if (answer.granted) return { ledger: answer.ledger, epoch: answer.epoch }
  // What ceph-drain holds for the same cluster keeps others off as well.
  const first = answer.obstacles.find((obstacle) => !isOwnRequest(cluster, obstacle.requestId))
  if (first === undefined) return { ledger, epoch: undefined }
  const problem = `${fencedText({ ...fence, node: '' })} is being fenced although ${first.holder} holds the storage`
  return { ledger, epoch: undefined, problem: { object: `cephcluster/${clusterName}`, problem } }
}
