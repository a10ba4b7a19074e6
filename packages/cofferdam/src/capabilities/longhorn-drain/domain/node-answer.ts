import { bytesLeftOf } from './bytes-left.ts'
import type { EvictionAnswer, NodeAnswer, ReplicaBlocker, ReplicaMove } from './decision.ts'
import { explainEngine, explainManagerAway, explainReplica, explainUnreadable } from './explain-hold.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import { moveStateOf, movingReplicas } from './move-state.ts'
import type { NodeHolds } from './node-holds.ts'
import type { SettledSoFar } from './protection.ts'
import type { LonghornNodeView } from './snapshot.ts'
import { withUnseenClosing } from './unseen-closing.ts'

/** Whether it is a question at all. */
export function isAsked({ isCordoned, isDraining }: LonghornNodeView): boolean {
  return isCordoned || isDraining
}

/** May the node go, and if not, what holds it: engines first, since they hold it under every policy. */
export function nodeAnswer(
  so: SettledSoFar,
  node: LonghornNodeView,
  { holds, evictions }: { readonly holds: NodeHolds; readonly evictions: readonly EvictionAnswer[] },
): NodeAnswer {
  const { index } = so
  const wanted = new Set(evictions.filter(({ isRequested }) => isRequested).map(({ replica }) => replica))
  const others: ReplicaBlocker[] = [
    ...holds.engines.map((volume) => explainEngine(index, node.name, volume)),
    ...holds.replicas.map((held) => explainReplica(so, { ...held, isWanted: wanted.has(held.replica.name) })),
    ...holds.unreadable.map(explainUnreadable),
    ...index
      .instanceManagersOn(node.name)
      .filter(({ name, isRunning }) => !isRunning && index.budgets.has(name))
      .map(explainManagerAway),
  ]
  const blockers = withUnseenClosing(index.settings, node, others)
  const moves = movesOff(index, node.name, wanted)
  const bytesLeft = moves.reduce((sum, { state, bytes }) => (state === 'not-begun' ? sum : sum + bytes), 0)
  const [first] = blockers
  if (first === undefined) {
    const explanation = node.isCordoned
      ? 'Nothing on the node holds it.'
      : 'Nothing on the node holds it; its budgets go when it is cordoned.'
    return { node: node.name, mayDrain: true, reason: 'ReplicasProtected', explanation, moves, bytesLeft, blockers }
  }
  const more = blockers.length === 1 ? '' : ` And ${blockers.length - 1} more.`
  const explanation = `${first.explanation}${more}`
  return { node: node.name, mayDrain: false, reason: first.reason, explanation, moves, bytesLeft, blockers }
}

function movesOff(index: LonghornIndex, node: string, wanted: ReadonlySet<string>): readonly ReplicaMove[] {
  return movingReplicas(index, node, wanted).map((replica) => {
    const { name, volume } = replica
    const state = moveStateOf(index, replica).is
    return { replica: name, volume, bytes: state === 'copied' ? 0 : bytesLeftOf(index.volumes.get(volume)), state }
  })
}
