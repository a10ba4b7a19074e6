import { sha256 } from '../ceph-drain/sha256.ts'
import { clusterId } from './fence-labels.ts'
import type { FencedCluster } from './snapshot.ts'

type ClusterName = Pick<FencedCluster, 'namespace' | 'name'>

const longestName = 253

/** As Rook named it. */
export function machineBudgetName({ namespace, name }: ClusterName): string {
  const full = `${name}-${namespace}`
  return full.length <= longestName ? full : `${full.slice(0, longestName - 9)}-${hashOf({ namespace, name })}`
}

/** The names of all, by `namespace/name`. `a-b` in `c` and `a` in `b-c` would have the same, so such get a hash each. */
export function machineBudgetNames(clusters: readonly ClusterName[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  const names = clusters.map(machineBudgetName)
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return new Map(
    clusters.map((cluster, at) => {
      const name = names[at] as string
      const isAlone = counts.get(name) === 1
      return [clusterId(cluster), isAlone ? name : `${name.slice(0, longestName - 9)}-${hashOf(cluster)}`]
    }),
  )
}

function hashOf(cluster: ClusterName): string {
  return sha256(clusterId(cluster)).slice(0, 8)
}
