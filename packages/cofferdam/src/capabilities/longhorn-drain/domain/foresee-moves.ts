import { explainNoPlace } from './explain-move.ts'
import { IndexedSnapshot, type LonghornIndex } from './longhorn-index.ts'
import { whyNoPlace } from './place-for-copy.ts'
import { policyFor, ruleOf } from './policy.ts'
import type { LonghornNodeView, LonghornSnapshot, ReplicaView } from './snapshot.ts'

/** What drains of nodes would make Longhorn do, before any of them is cordoned. */
export interface ForeseenMoves {
  /** Copies that would have to leave the node and that no other node takes: the drain would wait for a place. */
  placelessOn(node: string, intent: LonghornNodeView['intent']): readonly PlacelessCopy[]
  /** Whether copies of other nodes may come to this one while those are drained. */
  mayTakeCopies(node: string): boolean
}

export interface PlacelessCopy {
  /** `replica/db-r-1` */
  readonly object: string
  readonly reason: 'NoPlaceForReplica'
  readonly why: string
}

/** By the rules of the drain policy and of Longhorn's scheduler. What is not known counts as a place. */
export function foreseeMoves(snapshot: LonghornSnapshot): ForeseenMoves {
  if (!mayMove(snapshot)) return { placelessOn: () => [], mayTakeCopies: () => false }
  const index = new IndexedSnapshot()
  index.update(snapshot)
  const doesAnyMove = [undefined, 'Reboot' as const].some((intent) =>
    snapshot.replicas.some((replica) => doesMove(index, replica, intent)),
  )
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
    mayTakeCopies: (node) => doesAnyMove && index.nodes.get(node)?.takesReplicas !== false && index.nodes.has(node),
  }
}

/** Most policies move nothing, and then nothing has to be put in order for it. */
function mayMove({ settings, volumes }: LonghornSnapshot): boolean {
  const moves = (volume: LonghornSnapshot['volumes'][number] | undefined, intent: LonghornNodeView['intent']) =>
    ruleOf({ setting: policyFor(settings, intent), volume }).startsWith('move')
  return [undefined, 'Reboot' as const].some(
    (intent) => moves(undefined, intent) || volumes.some((volume) => moves(volume, intent)),
  )
}

/** Whether a drain of its node moves the copy, all being well. */
function doesMove(index: LonghornIndex, replica: ReplicaView, intent: LonghornNodeView['intent']): boolean {
  if (!replica.isActive || replica.failedAt !== '' || replica.isBeingDeleted) return false
  const rule = ruleOf({ setting: policyFor(index.settings, intent), volume: index.volumes.get(replica.volume) })
  if (rule === 'move-all') return true
  if (rule !== 'move-last') return false
  return !index
    .copiesOf(replica.volume)
    .some(({ node, failedAt, isBeingDeleted }) => node !== replica.node && failedAt === '' && !isBeingDeleted)
}
