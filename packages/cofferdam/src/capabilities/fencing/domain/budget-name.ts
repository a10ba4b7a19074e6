import { sha256 } from '../../../shared/sha256.ts'
import { clusterId } from './fence-labels.ts'
import type { FencedCluster } from './snapshot.ts'

type ClusterName = Pick<FencedCluster, 'namespace' | 'name'>

const longestName = 253

/** As Rook named it. */
export function machineBudgetName({ namespace, name }: ClusterName): string {
  const full = `${name}-${namespace}`
  return full.length <= longestName ? full : `${full.slice(0, longestName - 9)}-${hashOf({ namespace, name })}`
}

/** The names of all, by `namespace/name`. `a-b` in `c` and `a` in `b-c` would have the same: the first has it, others get a hash. */
export function machineBudgetNames(clusters: readonly ClusterName[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const inOrder = [...clusters].sort((a, b) => (clusterId(a) < clusterId(b) ? -1 : 1))
  return new Map(
    inOrder.map((cluster) => {
      const name = machineBudgetName(cluster)
      const isFree = !taken.has(name)
      taken.add(name)
      return [clusterId(cluster), isFree ? name : `${name.slice(0, longestName - 9)}-${hashOf(cluster)}`]
    }),
  )
}

function hashOf(cluster: ClusterName): string {
  return sha256(clusterId(cluster)).slice(0, 8)
}
