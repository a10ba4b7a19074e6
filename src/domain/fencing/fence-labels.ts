import { sha256 } from '../ceph-drain/sha256.ts'
import type { FencedCluster } from './snapshot.ts'

const prefix = 'fencegroup.rook.io/'
const longestName = 63

/** What Rook itself wrote until 1.10. */
export const rookLabels = { cluster: `${prefix}cluster`, namespace: `${prefix}clusterNamespace` } as const

export const fenceLabelValue = 'true'

type ClusterName = Pick<FencedCluster, 'namespace' | 'name'>

/** The label of each cluster, by `namespace/name`. Clusters of one name are told apart by their namespaces. */
export function fenceLabelKeys(clusters: readonly ClusterName[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const { name } of clusters) counts.set(name, (counts.get(name) ?? 0) + 1)
  return new Map(
    clusters.map((cluster) => {
      const isAlone = counts.get(cluster.name) === 1 && !isRooks(cluster.name)
      return [
        clusterId(cluster),
        `${prefix}${shortened(isAlone ? cluster.name : `${cluster.name}.${cluster.namespace}`)}`,
      ]
    }),
  )
}

export function clusterId({ namespace, name }: ClusterName): string {
  return `${namespace}/${name}`
}

/** A cluster that is called `cluster` must not take Rook's own key. */
function isRooks(name: string): boolean {
  return Object.values(rookLabels).some((key) => key === `${prefix}${name}`)
}

function shortened(name: string): string {
  if (name.length <= longestName) return name
  return `${name.slice(0, longestName - 9)}-${sha256(name).slice(0, 8)}`
}
