import type { NodeAnswer, ReplicaBlocker } from './decision.ts'
import { createLonghornJudge } from './judge.ts'
import type { LonghornNodeView, LonghornSnapshot } from './snapshot.ts'

/** What a drain of one node alone would meet, all others as they are now. */
export interface RehearsedDrain {
  readonly node: string
  /** What ends with the drain itself: replicas that move, volumes that go with the pods that use them. */
  readonly passing: readonly ReplicaBlocker[]
  /** What holds the node until somebody does something about it. */
  readonly lasting: readonly ReplicaBlocker[]
}

/** Rehearses the drain of every node that takes pods, one at a time. In the order of the snapshot. */
export function rehearseDrains(snapshot: LonghornSnapshot): readonly RehearsedDrain[] {
  const judge = createLonghornJudge()
  judge.decide(snapshot)
  const users = new Map(snapshot.volumes.map(({ name, attachedBy }) => [name, attachedBy]))
  return snapshot.nodes.filter(isOpen).map((node) => {
    const drained: LonghornNodeView = { ...node, isCordoned: true, isDraining: true }
    const nodes = snapshot.nodes.map((each) => (each === node ? drained : each))
    const { blockers } = judge
      .decide({ ...snapshot, nodes })
      .nodes.find((each) => each.node === node.name) as NodeAnswer
    const passes = (blocker: ReplicaBlocker) => isPassing(blocker, users.get(blocker.volume))
    return { node: node.name, passing: blockers.filter(passes), lasting: blockers.filter((each) => !passes(each)) }
  })
}

function isOpen({ kubernetes, isCordoned, isDraining }: LonghornNodeView): boolean {
  return kubernetes !== 'absent' && !isCordoned && !isDraining
}

function isPassing({ reason }: ReplicaBlocker, attachedBy: string | undefined): boolean {
  if (reason === 'ReplicaMoving' || reason === 'ReplicaMustLeave') return true
  const users = attachedBy?.split(', ') ?? []
  return reason === 'VolumeAttached' && users.length > 0 && users.every((user) => user.startsWith('pod '))
}
