import type { UnreadableObject } from '../../../shared/parsed.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import { policyFor } from './policy.ts'
import { type SettledSoFar, standsForData } from './protection.ts'
import { needsBudget, type ReplicaHold, replicaHold } from './replica-hold.ts'
import type { InstanceManagerView, ReplicaView } from './snapshot.ts'

/** What keeps the instance managers of a node from going. */
export interface NodeHolds {
  /** Volumes whose engines run on the node. They hold it under every policy. */
  readonly engines: readonly string[]
  readonly replicas: readonly { readonly replica: ReplicaView; readonly hold: ReplicaHold }[]
  readonly unreadable: readonly UnreadableObject[]
}

export function nodeHolds(index: LonghornIndex, node: string, replicas: NodeHolds['replicas']): NodeHolds {
  return { engines: enginesOn(index, node), replicas, unreadable: unreadableOn(index, node) }
}

/** The same as a mere yes or no, while budgets are being settled. */
export function isNodeHeld(so: SettledSoFar, node: string): boolean {
  const { index } = so
  if (enginesOn(index, node).length > 0 || unreadableOn(index, node).length > 0) return true
  const hasBudget = index.instanceManagersOn(node).some(({ name }) => index.budgets.has(name))
  return index
    .replicasOn(node)
    .some(
      (replica) =>
        standsForData(index, replica) &&
        (hasBudget ? replicaHold(so, replica) !== undefined : needsBudget(so, replica)),
    )
}

/** A manager for engines alone guards nothing but its own engines; any other one guards all that the node has. */
export function isManagerHeld(manager: InstanceManagerView, isNodeHeldNow: boolean): boolean {
  return manager.type === 'engine' ? manager.engines.length > 0 : isNodeHeldNow
}

function enginesOn(index: LonghornIndex, node: string): readonly string[] {
  const engines = index
    .instanceManagersOn(node)
    .filter(({ type }) => type !== 'replica')
    .flatMap((manager) => manager.engines)
  return engines.length < 2 ? engines : [...new Set(engines)].sort()
}

/** What cannot be read may be the last copy, unless nothing is protected here anyway. */
function unreadableOn({ unreadable, settings, nodes }: LonghornIndex, node: string): readonly UnreadableObject[] {
  if (unreadable.length === 0) return []
  const policy = policyFor(settings, nodes.get(node)?.intent)
  if (policy.known && policy.value === 'always-allow') return []
  return unreadable.filter((object) => object.node === node)
}
