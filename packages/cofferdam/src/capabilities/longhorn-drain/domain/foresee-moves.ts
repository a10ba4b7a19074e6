import { doesDrainMove, mayDrainsMove } from './drain-moves.ts'
import { explainNoPlace } from './explain-move.ts'
import { IndexedSnapshot, type LonghornIndex } from './longhorn-index.ts'
import { whyNoPlace } from './place-for-copy.ts'
import type { LonghornNodeView, LonghornSnapshot, ReplicaView } from './snapshot.ts'

/** What drains of nodes would make Longhorn do, before any of them is cordoned. */
export interface ForeseenMoves {
  /** Copies that would have to leave the node and that no other node takes: the drain would wait for a place. */
  placelessOn(node: string, intent: LonghornNodeView['intent']): readonly PlacelessCopy[]
}

export interface PlacelessCopy {
  /** `replica/db-r-1` */
  readonly object: string
  readonly reason: 'NoPlaceForReplica'
  readonly why: string
}

/** By the rules of the drain policy and of Longhorn's scheduler. What is not known counts as a place. */
export function foreseeMoves(snapshot: LonghornSnapshot): ForeseenMoves {
  if (!mayDrainsMove(snapshot)) return { placelessOn: () => [] }
  const index = new IndexedSnapshot()
  index.update(snapshot)
  return {
    placelessOn: (node, intent) =>
      index.replicasOn(node).flatMap((replica): PlacelessCopy[] => {
        const volume = index.volumes.get(replica.volume)
        if (volume === undefined || !doesMove(index, replica, intent)) return []
        const why = whyNoPlace(index, volume, node)
        if (why === undefined) return []
        const { explanation, wayOut } = explainNoPlace(`Replica ${replica.name} of volume ${volume.name}`, node, why)
        return [{ object: `replica/${replica.name}`, reason: 'NoPlaceForReplica', why: `${explanation} ${wayOut}` }]
      }),
  }
}

function doesMove(index: LonghornIndex, replica: ReplicaView, intent: LonghornNodeView['intent']): boolean {
  return doesDrainMove(replica, {
    setting: index.settings,
    intent,
    volume: index.volumes.get(replica.volume),
    isLast: () =>
      !index
        .copiesOf(replica.volume)
        .some(({ node, failedAt, isBeingDeleted }) => node !== replica.node && failedAt === '' && !isBeingDeleted),
  })
}
