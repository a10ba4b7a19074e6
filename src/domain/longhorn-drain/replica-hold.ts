import type { LonghornIndex } from './longhorn-index.ts'
import { type ReplicaRule, ruleOf } from './policy.ts'
import { hasCopyProtectedSoon, hasProtectedCopyElsewhere, isUnused, type SettledSoFar } from './protection.ts'
import type { ReplicaView } from './snapshot.ts'

/** Why a replica holds the budgets of its node. */
export type ReplicaHold = 'must-leave' | 'last-copy'

/** Fails closed: where the volume cannot be read, its own policy is unknown, and the setting does not stand in for it. */
export function replicaRule(index: LonghornIndex, replica: ReplicaView): ReplicaRule {
  if (index.unreadableObjects.size > 0 && index.unreadableObjects.has(`volume/${replica.volume}`)) return 'unknown'
  return ruleOf({
    setting: index.settings.policy,
    volume: index.volumes.get(replica.volume),
    intent: index.nodes.get(replica.node)?.intent,
  })
}

/**
 * Whether a replica keeps the instance managers of its node from going, by its own policy. A node's budgets go when no
 * replica on it holds them, so the strictest of their policies decides.
 */
export function replicaHold(so: SettledSoFar, replica: ReplicaView): ReplicaHold | undefined {
  const rule = replicaRule(so.index, replica)
  if (rule === 'free') return undefined
  if (rule === 'move-all') return 'must-leave'
  if (rule === 'last-unless-stopped' && replica.isStopped) return undefined
  if (isUnused(replica) || hasProtectedCopyElsewhere(so, replica)) return undefined
  return 'last-copy'
}

/** The same for a node that has no budget yet: one that is being made elsewhere is enough not to make another. */
export function needsBudget(so: SettledSoFar, replica: ReplicaView): boolean {
  return replicaHold(so, replica) !== undefined && !(isLastRule(so, replica) && hasCopyProtectedSoon(so, replica))
}

function isLastRule({ index }: SettledSoFar, replica: ReplicaView): boolean {
  return replicaRule(index, replica) !== 'move-all'
}
