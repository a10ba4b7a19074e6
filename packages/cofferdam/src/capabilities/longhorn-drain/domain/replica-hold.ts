import type { LonghornIndex } from './longhorn-index.ts'
import { policyFor, type ReplicaRule, ruleOf } from './policy.ts'
import { hasCopyProtectedSoon, hasProtectedCopyElsewhere, isUnused, type SettledSoFar } from './protection.ts'
import type { ReplicaView } from './snapshot.ts'

/** Why a replica holds the budgets of its node. */
export type ReplicaHold = 'must-leave' | 'last-copy' | 'unknown'

/** Fails closed: where the volume cannot be read, its own policy is unknown, and the setting does not stand in for it. */
export function replicaRule(index: LonghornIndex, replica: ReplicaView): ReplicaRule {
  if (index.unreadableObjects.size > 0 && index.unreadableObjects.has(`volume/${replica.volume}`)) return 'unknown'
  return ruleOf({
    setting: policyFor(index.settings, index.nodes.get(replica.node)?.intent),
    volume: index.volumes.get(replica.volume),
  })
}

/**
 * Whether a replica keeps the instance managers of its node from going, by its own policy. A node's budgets go when no
 * replica on it holds them, so the strictest of their policies decides.
 *
 * Fails closed: a policy that is not known may be one under which every replica leaves first, so it lets nothing go.
 */
export function replicaHold(so: SettledSoFar, replica: ReplicaView): ReplicaHold | undefined {
  const rule = replicaRule(so.index, replica)
  if (rule === 'free') return undefined
  if (rule === 'move-all') return 'must-leave'
  if (rule === 'unknown') return 'unknown'
  if (rule === 'last-unless-stopped' && replica.isStopped) return undefined
  if (isUnused(replica) || hasProtectedCopyElsewhere(so, replica)) return undefined
  return 'last-copy'
}

/**
 * The same for a node that has no budget yet: one that is being made elsewhere is enough not to make another. Under an
 * unknown policy what was let go before stays so, unless it is a last copy.
 */
export function needsBudget(so: SettledSoFar, replica: ReplicaView): boolean {
  const hold = replicaHold(so, replica)
  if (hold === undefined || hold === 'must-leave') return hold !== undefined
  if (hold === 'unknown' && (isUnused(replica) || hasProtectedCopyElsewhere(so, replica))) return false
  return !hasCopyProtectedSoon(so, replica)
}
