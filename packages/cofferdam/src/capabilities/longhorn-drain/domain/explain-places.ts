import type { NodeAnswer, ReplicaBlocker } from './decision.ts'
import { explainNoPlace } from './explain-move.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import { moveStateOf } from './move-state.ts'
import { whyNoPlace } from './place-for-copy.ts'
import type { ReplicaView } from './snapshot.ts'

/**
 * The answer with replicas called so that wait for a place which Longhorn does not speak of. It attaches a detached volume for a move
 * only where a disk has room for the copy, and where none has, it says so nowhere but in its log.
 *
 * What a node may take depends on all nodes, so this is said anew each time.
 */
export function explainPlaces(index: LonghornIndex, answer: NodeAnswer): NodeAnswer {
  const blockers = answer.blockers.map((blocker) => withoutPlace(index, answer.node, blocker) ?? blocker)
  const [first] = blockers
  if (first === undefined || blockers.every((blocker, at) => blocker === answer.blockers[at])) return answer
  const more = blockers.length === 1 ? '' : ` And ${blockers.length - 1} more.`
  return { ...answer, reason: first.reason, explanation: `${first.explanation}${more}`, blockers }
}

function withoutPlace(index: LonghornIndex, node: string, blocker: ReplicaBlocker): ReplicaBlocker | undefined {
  const { reason, object, volume: name } = blocker
  const volume = index.volumes.get(name)
  if (reason !== 'ReplicaMustLeave' || volume?.state !== 'detached') return undefined
  const replica = index.replicasOn(node).find((each) => object === `replica/${each.name}`) as ReplicaView
  const state = moveStateOf(index, replica)
  const isUnattached = state.is === 'waiting' && state.for.cause === 'detached' && state.for.ticket === undefined
  const why = isUnattached ? whyNoPlace(index, volume) : undefined
  if (why === undefined) return undefined
  const of = `Replica ${replica.name} of volume ${name}, which is detached,`
  return { ...blocker, ...explainNoPlace(of, node, why) }
}
