import type { LonghornIndex } from './longhorn-index.ts'
import { policyFor, type ReplicaRule, ruleOf } from './policy.ts'
import type { ReplicaView } from './snapshot.ts'

/** Fails closed: where the volume cannot be read, its own policy is unknown, and the setting does not stand in for it. */
export function replicaRule(index: LonghornIndex, replica: ReplicaView): ReplicaRule {
  if (index.unreadableObjects.size > 0 && index.unreadableObjects.has(`volume/${replica.volume}`)) return 'unknown'
  return ruleOf({
    setting: policyFor(index.settings, index.nodes.get(replica.node)?.intent),
    volume: index.volumes.get(replica.volume),
  })
}

/** Whether its policy lets its node go even where it is the last copy. */
export function mayGoAsLast(index: LonghornIndex, replica: ReplicaView): boolean {
  const rule = replicaRule(index, replica)
  return rule === 'free' || (rule === 'last-unless-stopped' && replica.isStopped)
}
