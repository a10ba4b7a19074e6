import { isLeaving } from './eviction-flags.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import type { NodeHolds } from './node-holds.ts'
import { isUnused } from './protection.ts'
import type { ReplicaHold } from './replica-hold.ts'
import { isSeenClosed } from './seen-closing.ts'
import type { DrainPolicy, LonghornNodeView, ReplicaView } from './snapshot.ts'

/** `shared`: Longhorn has them too. `engines`: nothing else holds the node, and engines hold it in Longhorn under every policy. */
export type HoldReasons = 'none' | 'engines' | 'shared' | 'own'

/**
 * Whether we have reasons to hold a node, and whether Longhorn, by its own rules, has every one of them too.
 *
 * While the node leaves, by the policy in force. Else also by the one that a guide puts back: Longhorn may let go as soon as it does.
 * Fails closed: what Longhorn may see differently counts as a reason that it does not have.
 */
export function reasonsToHold(
  index: LonghornIndex,
  node: LonghornNodeView,
  { engines, replicas, unreadable }: NodeHolds,
): HoldReasons {
  const { inForce, atRest } = index.settings
  if (unreadable.length > 0) return 'own'
  if (replicas.length === 0) return engines.length === 0 ? 'none' : 'engines'
  const policies = isLeaving(index.settings, node) ? [inForce] : [inForce, atRest]
  const isShared = replicas.every(({ replica, hold }) =>
    policies.every(
      (policy) => policy.known && isReasonOf(policy.value, hold) && holdsByLonghorn(index, replica, policy.value),
    ),
  )
  return isShared ? 'shared' : 'own'
}

/**
 * Whether Longhorn holds it for the same reason. One that must leave may be the last copy too, but only until another is
 * protected; and while nobody knows what is wanted, Longhorn goes by what it has.
 */
function isReasonOf(policy: DrainPolicy, hold: ReplicaHold): boolean {
  return hold === 'last-copy' || (hold === 'must-leave' && policy === 'block-for-eviction')
}

/** Whether Longhorn asks what else there is of its volume, or whether it is still there. */
export function isCountedByLonghorn(replica: ReplicaView, policy: DrainPolicy): boolean {
  if (policy === 'always-allow') return false
  if (policy === 'block-for-eviction') return true
  return !isUnused(replica) && !(policy === 'allow-if-replica-is-stopped' && replica.isStopped)
}

function holdsByLonghorn(index: LonghornIndex, replica: ReplicaView, policy: DrainPolicy): boolean {
  if (!isCountedByLonghorn(replica, policy)) return false
  if (policy === 'block-for-eviction') return true
  return !index
    .replicasOf(replica.volume)
    .some((copy) => copy.node !== replica.node && mayProtectForLonghorn(index, copy))
}

/**
 * Longhorn counts inactive replicas, those that are being deleted, and nodes that do not answer, have only a taint or are none of its
 * own.
 */
export function mayProtectForLonghorn(index: LonghornIndex, copy: ReplicaView): boolean {
  if (copy.healthyAt === '' || copy.failedAt !== '') return false
  // Longhorn finds no Kubernetes node for it, gives up and keeps what it has.
  if (copy.node === '') return false
  const node = index.nodes.get(copy.node)
  if (node !== undefined && (node.kubernetes === 'absent' || isSeenClosed(node))) return false
  if (copy.instanceManager === undefined) return true
  const named = index.instanceManagers.get(copy.instanceManager)
  // Which one Longhorn takes for a replica that has not started is not known: it may be any that runs there.
  return [...(named === undefined ? [] : [named]), ...index.instanceManagersOn(copy.node)].some(
    ({ name, isRunning }) => isRunning && (index.longhornBudgets.has(name) || index.otherBudgets.has(name)),
  )
}
