import { Grouped } from '../../../shared/grouped.ts'
import type { EvictionAnswer } from './decision.ts'
import { evictionAnswer } from './eviction-flags.ts'
import { isAsked } from './node-answer.ts'
import type { NodeHolds } from './node-holds.ts'
import { type SettledSoFar, standsForData } from './protection.ts'
import { type ReplicaHold, replicaHold } from './replica-hold.ts'
import type { LonghornNodeView, ReplicaView } from './snapshot.ts'

/** All that is decided about one replica. */
export interface ReplicaAnswer {
  readonly name: string
  readonly node: string
  readonly replica: ReplicaView
  /** Why it holds its node; undefined: it does not, or nobody asks. */
  readonly hold: ReplicaHold | undefined
  /** Where its flag is up or should change. */
  readonly eviction: EvictionAnswer | undefined
}

/** Undefined: there is nothing to say of it. */
export function replicaAnswer(so: SettledSoFar, replica: ReplicaView): ReplicaAnswer | undefined {
  const node = so.index.nodes.get(replica.node)
  if (node === undefined) return undefined
  const hold = holdOn(so, node, replica)
  const eviction = evictionAnswer(so, node, replica)
  if (hold === undefined && eviction === undefined) return undefined
  return { name: replica.name, node: node.name, replica, hold, eviction }
}

/** A budget of hold is there before a cordon, so there open nodes are judged as if they were cordoned. */
function holdOn(so: SettledSoFar, node: LonghornNodeView, replica: ReplicaView): ReplicaHold | undefined {
  if (so.index.settings.mode !== 'hold' && !isAsked(node)) return undefined
  return standsForData(so.index, replica) ? replicaHold(so, replica) : undefined
}

/**
 * What is decided about replicas, by node.
 *
 * Nothing but its volume and the copies of that, with their nodes, instance managers and budgets, decides about a replica, and what holds
 * for all. So a volume is judged again where one of these has changed, and all others keep their answers.
 */
export class ReplicaAnswers {
  readonly #byNode = new Grouped<ReplicaAnswer>(({ node }) => node)
  readonly #byVolume = new Map<string, readonly ReplicaAnswer[]>()

  /** In the order of their names, as all that is asked of a node. */
  heldOn(node: string): NodeHolds['replicas'] {
    return this.#byNode.of(node).flatMap(({ replica, hold }) => (hold === undefined ? [] : [{ replica, hold }]))
  }

  evictionsOn(node: string): readonly EvictionAnswer[] {
    return this.#byNode.of(node).flatMap(({ eviction }) => eviction ?? [])
  }

  /** What there was to say of the replicas of a volume, and what there is. */
  judge(so: SettledSoFar, volume: string): readonly ReplicaAnswer[] {
    const before = this.#byVolume.get(volume) ?? []
    const after: ReplicaAnswer[] = []
    for (const replica of so.index.replicasNaming(volume)) {
      const answer = replicaAnswer(so, replica)
      if (answer !== undefined) after.push(answer)
    }
    for (const answer of before) this.#byNode.remove(answer)
    for (const answer of after) this.#byNode.add(answer)
    if (after.length > 0) this.#byVolume.set(volume, after)
    else this.#byVolume.delete(volume)
    return before.length === 0 ? after : [...before, ...after]
  }
}
