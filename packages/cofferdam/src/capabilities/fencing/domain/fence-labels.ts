import { sha256 } from '../../../shared/sha256.ts'
import type { FencedCluster } from './snapshot.ts'

export const fenceLabelPrefix = 'fencegroup.rook.io/'
const longestName = 63

/** What Rook itself wrote until 1.10. */
export const rookLabels = {
  cluster: `${fenceLabelPrefix}cluster`,
  namespace: `${fenceLabelPrefix}clusterNamespace`,
} as const

export const fenceLabelValue = 'true'

type ClusterName = Pick<FencedCluster, 'namespace' | 'name'>

/**
 * The label of each cluster, by `namespace/name`: by its name alone where that is no other's, else with its namespace.
 *
 * Guarantees: no two clusters have the same one. Names of namespaces have no dots, so the long keys differ.
 */
export function fenceLabelKeys(clusters: readonly ClusterName[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const { name } of clusters) counts.set(name, (counts.get(name) ?? 0) + 1)
  const isUnique = ({ name }: ClusterName) => counts.get(name) === 1 && !isRooks(name)
  const taken = new Set(clusters.filter((cluster) => !isUnique(cluster)).map(fullKey))
  return new Map(
    clusters.map((cluster) => {
      const isPlain = isUnique(cluster) && !taken.has(plainKey(cluster))
      return [clusterId(cluster), isPlain ? plainKey(cluster) : fullKey(cluster)]
    }),
  )
}

export function clusterId({ namespace, name }: ClusterName): string {
  return `${namespace}/${name}`
}

/** Whether the cluster's budget may select by the key until its machines carry another: it had that before a namesake came or went. */
export function isFormerKey(key: string, cluster: ClusterName): boolean {
  return key === plainKey(cluster) || key === fullKey(cluster)
}

function plainKey({ name }: ClusterName): string {
  return `${fenceLabelPrefix}${shortened(name)}`
}

function fullKey({ namespace, name }: ClusterName): string {
  return `${fenceLabelPrefix}${shortened(`${name}.${namespace}`)}`
}

/** A cluster that is called `cluster` must not take Rook's own key. */
function isRooks(name: string): boolean {
  return Object.values(rookLabels).some((key) => key === `${fenceLabelPrefix}${name}`)
}

function shortened(name: string): string {
  if (name.length <= longestName) return name
  return `${name.slice(0, longestName - 9)}-${sha256(name).slice(0, 8)}`
}
