import { isStorageMachine, type LabelledCluster } from './decide-labels.ts'
import type { Fence } from './decision.ts'
import type { FencingIndex } from './fences.ts'
import type { FencedNodeView, StorageHolder } from './snapshot.ts'

/** A node that does not answer and whose machine holds OSDs of these clusters. */
export interface SickNode {
  readonly node: FencedNodeView
  readonly machine: string
  readonly clusters: readonly LabelledCluster[]
}

/** The longest sick first. */
export function sickNodes(index: FencingIndex, clusters: readonly LabelledCluster[]): SickNode[] {
  return index.snapshot.nodes
    .flatMap((node): SickNode[] => {
      const machine = index.machinesByNode.get(node.name)
      if (node.isReady || machine === undefined) return []
      const concerned = clusters.filter((labelled) => isStorageMachine(machine, labelled))
      return concerned.length === 0 ? [] : [{ node, machine: machine.name, clusters: concerned }]
    })
    .sort(
      (a, b) =>
        (a.node.notReadySinceMs ?? Number.MAX_SAFE_INTEGER) - (b.node.notReadySinceMs ?? Number.MAX_SAFE_INTEGER) ||
        (a.node.name < b.node.name ? -1 : 1),
    )
}

/** Whoever holds a single failure domain does not mind a fence in it. */
export function isInScope({ osds }: LabelledCluster, node: string, { scope }: Pick<StorageHolder, 'scope'>): boolean {
  const domains = osds.domains.get(node) ?? []
  return domains.length === 1 && domains[0] === scope
}

/**
 * The sick nodes that may go now: of each cluster that can spare one, one at most, and only where every cluster with OSDs on it
 * can. A fence that has begun goes on.
 */
export function chooseTargets(
  sick: readonly SickNode[],
  maySpare: ReadonlySet<LabelledCluster>,
  fences: readonly Fence[],
): ReadonlySet<string> {
  const targets = new Set(fences.filter(({ isOver }) => !isOver).map(({ node }) => node))
  const taken = new Set<LabelledCluster>()
  for (const { node, clusters } of sick) {
    if (targets.has(node.name) || !clusters.every((cluster) => maySpare.has(cluster) && !taken.has(cluster))) continue
    targets.add(node.name)
    for (const cluster of clusters) taken.add(cluster)
  }
  return targets
}
