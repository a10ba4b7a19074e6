import { hasCopyToHoldSoon, hasCopyToRelyOn, isUnused, type SettledSoFar } from './protection.ts'
import { mayGoAsLast, replicaRule } from './replica-rule.ts'
import type { ReplicaView } from './snapshot.ts'

/** Why a replica holds the budgets of its node. */
export type ReplicaHold = 'must-leave' | 'last-copy' | 'unknown'

/**
 * Whether a replica keeps the instance managers of its node from going, by its own policy. A node's budgets go when no
 * replica on it holds them, so the strictest of their policies decides.
 *
 * Fails closed: a policy that is not known may be one under which every replica leaves first, so it lets nothing go.
 */
export function replicaHold(so: SettledSoFar, replica: ReplicaView): ReplicaHold | undefined {
  if (mayGoAsLast(so.index, replica)) return undefined
  const rule = replicaRule(so.index, replica)
  if (rule === 'move-all') return 'must-leave'
  if (rule === 'unknown') return 'unknown'
  if (isUnused(replica) || hasCopyToRelyOn(so, replica)) return undefined
  return 'last-copy'
}

/**
 * The same for a node that has no budget yet: one that is being made elsewhere is enough not to make another. Under an
 * unknown policy what was let go before stays so, unless it is a last copy.
 */
export function needsBudget(so: SettledSoFar, replica: ReplicaView): boolean {
  const hold = replicaHold(so, replica)
  if (hold === undefined || hold === 'must-leave') return hold !== undefined
  if (hold === 'unknown' && (isUnused(replica) || hasCopyToRelyOn(so, replica))) return false
  return !hasCopyToHoldSoon(so, replica)
}
