import type { Fence } from './decision.ts'
import type { FencingIndex } from './fencing-index.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import type { FencedNodeView, MachineView, StorageHolder } from './snapshot.ts'

/** A node whose machine somebody wants to take away, with OSDs of these clusters on it. */
export interface SickNode {
  readonly node: FencedNodeView
  /** A node may have none: a remediator may manage nodes alone. */
  readonly machine: MachineView | undefined
  readonly clusters: readonly LabelledCluster[]
}

/** The longest sick first. A node that is rebooted on plan is none of them. */
export function sickNodes(index: FencingIndex): SickNode[] {
  const found: SickNode[] = []
  const waiting = waitingNodes(index)
  for (const node of index.snapshot.nodes) {
    if ((node.isReady && !waiting.has(node.name)) || index.isPlanned(node.name)) continue
    const machine = index.machinesByNode.get(node.name)
    const { runs, unknown } = index.occupancyOf(node.name)
    const concerned = index.clusters.filter((labelled) =>
      machine === undefined
        ? runs.includes(labelled.at) || unknown.includes(labelled.at)
        : index.isStorageMachine(machine, labelled),
    )
    if (concerned.length > 0) found.push({ node, machine, clusters: concerned })
  }
  return found.sort(
    (a, b) =>
      (a.node.notReadySinceMs ?? Number.MAX_SAFE_INTEGER) - (b.node.notReadySinceMs ?? Number.MAX_SAFE_INTEGER) ||
      (a.node.name < b.node.name ? -1 : 1),
  )
}

/** A deletion cannot be taken back, so the machine goes when it is next in the queue, even if its node is well by then. */
function waitingNodes({ snapshot }: FencingIndex): ReadonlySet<string> {
  const waiting = new Set<string>()
  for (const { isBeingDeleted, isHookedByUs, nodeName } of snapshot.machines) {
    if (isBeingDeleted && isHookedByUs && nodeName !== undefined) waiting.add(nodeName)
  }
  return waiting
}

/** Whoever holds a single failure domain does not mind a fence in it. */
export function isInScope({ osds }: LabelledCluster, node: string, { scope }: Pick<StorageHolder, 'scope'>): boolean {
  const domains = osds.domains.get(node) ?? []
  return domains.length === 1 && domains[0] === scope
}

/**
 * The sick nodes that may go now: of each cluster that can lose one, one at most, and only where every cluster with OSDs on it
 * can. A fence that has begun goes on; one whose node came back and is sick anew is no leave to take it again.
 */
export function chooseTargets(
  sick: readonly SickNode[],
  mayLoseOne: ReadonlySet<LabelledCluster>,
  fences: readonly Fence[],
): ReadonlySet<string> {
  const boots = new Map(sick.map(({ node }) => [node.name, node.bootID]))
  const isDone = ({ node, bootID }: Fence) => bootID !== '' && (boots.get(node) ?? bootID) !== bootID
  const underWay = fences.filter((fence) => !fence.isOver && fence.node !== '' && !isDone(fence))
  const targets = new Set(underWay.map(({ node }) => node))
  const taken = new Set<LabelledCluster>()
  for (const { node, clusters } of sick) {
    if (targets.has(node.name) || !clusters.every((cluster) => mayLoseOne.has(cluster) && !taken.has(cluster))) continue
    targets.add(node.name)
    for (const cluster of clusters) taken.add(cluster)
  }
  return targets
}
