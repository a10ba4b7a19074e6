import { bytesLeftOf } from './bytes-left.ts'
import type { EvictionAnswer, NodeAnswer, ReplicaBlocker } from './decision.ts'
import { explainEngine, explainManagerAway, explainReplica, explainUnreadable } from './explain-hold.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import type { NodeHolds } from './node-holds.ts'
import { isHealthy, type SettledSoFar } from './protection.ts'
import type { LonghornNodeView } from './snapshot.ts'
import { withUnseenClosing } from './unseen-closing.ts'

/** May the node go, and if not, what holds it: engines first, since they hold it under every policy. */
export function nodeAnswer(
  so: SettledSoFar,
  node: LonghornNodeView,
  { holds, evictions }: { readonly holds: NodeHolds; readonly evictions: readonly EvictionAnswer[] },
): NodeAnswer {
  const { index } = so
  const flagged = new Set(evictions.filter(({ isRequested }) => isRequested).map(({ replica }) => replica))
  const others: ReplicaBlocker[] = [
    ...holds.engines.map((volume) => explainEngine(index, node.name, volume)),
    ...holds.replicas.map((held) => explainReplica(so, { ...held, isFlagged: flagged.has(held.replica.name) })),
    ...holds.unreadable.map(explainUnreadable),
    ...index
      .instanceManagersOn(node.name)
      .filter(({ name, isRunning }) => !isRunning && index.budgets.has(name))
      .map(explainManagerAway),
  ]
  const blockers = withUnseenClosing(index.settings, node, others)
  const bytesLeft = bytesToMove(so, node.name, flagged)
  const [first] = blockers
  if (first === undefined) {
    const explanation = node.isCordoned
      ? 'Nothing on the node holds it.'
      : 'Nothing on the node holds it; its budgets go when it is cordoned.'
    return { node: node.name, mayDrain: true, reason: 'ReplicasProtected', explanation, bytesLeft, blockers }
  }
  const more = blockers.length === 1 ? '' : ` And ${blockers.length - 1} more.`
  const explanation = `${first.explanation}${more}`
  return { node: node.name, mayDrain: false, reason: first.reason, explanation, bytesLeft, blockers }
}

function bytesToMove({ index }: SettledSoFar, node: string, flagged: ReadonlySet<string>): number {
  let bytes = 0
  for (const { name, volume } of index.replicasOn(node)) {
    if (flagged.has(name) && !isReplaced(index, node, volume)) bytes += bytesLeftOf(index.volumes.get(volume))
  }
  return bytes
}

/** As many whole copies as the volume wants are elsewhere: what is left on the node only waits to be deleted. */
function isReplaced(index: LonghornIndex, node: string, volume: string): boolean {
  const wanted = index.volumes.get(volume)?.numberOfReplicas ?? Number.POSITIVE_INFINITY
  const copies = index.copiesOf(volume)
  if (copies.length <= wanted) return false
  return copies.filter((copy) => copy.node !== node && isHealthy(copy) && !copy.isEvictionRequested).length >= wanted
}
