import { doesDrainMove, mayDrainsMove } from './drain-moves.ts'
import type { LonghornNodeView, LonghornSnapshot, ReplicaView } from './snapshot.ts'

/**
 * Why a node asks Longhorn before it leaves. `has-data`: copies or engines are on it. `takes-copies`: it has none, and those that drains of
 * other nodes move may come to it.
 */
export type LonghornConcern = 'has-data' | 'takes-copies'

/**
 * What Longhorn has to do with one node after the other; undefined: nothing.
 *
 * A node that takes copies leaves beside none whose copies may move: they would lose their place halfway, the one node waiting for a place
 * and the other, with a copy on it by then, for the storage that the first one holds.
 */
export function longhornConcern(snapshot: LonghornSnapshot): (node: string) => LonghornConcern | undefined {
  const withData = new Set(snapshot.replicas.map(({ node }) => node))
  for (const { node, engines } of snapshot.instanceManagers) if (engines.length > 0) withData.add(node)
  let takers: ReadonlySet<string> | undefined
  return (node) => {
    if (withData.has(node)) return 'has-data'
    takers ??= takersIn(snapshot)
    return takers.has(node) ? 'takes-copies' : undefined
  }
}

/** What is not known of a node counts as a place. */
function takersIn(snapshot: LonghornSnapshot): ReadonlySet<string> {
  const { nodes, replicas } = snapshot
  if (!mayDrainsMove(snapshot)) return new Set()
  const volumes = new Map(snapshot.volumes.map((volume) => [volume.name, volume]))
  const isOfLast = lastCopies(replicas)
  const doesAnyMove = intents.some((intent) =>
    replicas.some((replica) =>
      doesDrainMove(replica, {
        setting: snapshot.settings,
        intent,
        volume: volumes.get(replica.volume),
        isLast: () => isOfLast(replica),
      }),
    ),
  )
  if (!doesAnyMove) return new Set()
  return new Set(nodes.filter(({ takesReplicas }) => takesReplicas !== false).map(({ name }) => name))
}

const intents: readonly LonghornNodeView['intent'][] = [undefined, 'Reboot']

/** Whether no other node has a copy that has not failed. Asked of copies that have not. */
function lastCopies(replicas: readonly ReplicaView[]): (replica: ReplicaView) => boolean {
  const nodesOf = new Map<string, Set<string>>()
  for (const { volume, node, isActive, failedAt, isBeingDeleted } of replicas) {
    if (volume === '' || !isActive || failedAt !== '' || isBeingDeleted) continue
    const before = nodesOf.get(volume)
    if (before === undefined) nodesOf.set(volume, new Set([node]))
    else before.add(node)
  }
  return ({ volume }) => {
    const found = nodesOf.get(volume)
    return found === undefined || found.size === 1
  }
}
