import type { LabelChange } from './decision.ts'
import { clusterId, fenceLabelPrefix, fenceLabelValue } from './fence-labels.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import type { Occupancy } from './occupancy.ts'
import type { MachineView } from './snapshot.ts'

/**
 * The labels that a machine should carry: that of a cluster exactly while an OSD of it runs there. Undefined: it does.
 *
 * Guarantees: a label goes only when Kubernetes and Ceph both say that no OSD of the cluster runs on the machine, and a former
 * one of the cluster only when no budget selects by it any more; keys of clusters that are gone go only where we put them, and
 * so do Rook's older ones.
 */
export function decideLabels(
  machine: MachineView,
  { wanted, stays, runs, unknown }: Occupancy,
  clusters: readonly LabelledCluster[],
): LabelChange | undefined {
  const { labels, labelsOfOurs } = machine
  const keys = clusters.map(({ key }) => key)
  const add = [...wanted].filter(([key, value]) => labels[key] !== value)
  const noted = labelsOfOurs.filter((key) => key.startsWith(fenceLabelPrefix))
  const remove = [...new Set([...keys, ...noted])]
    .filter((key) => labels[key] !== undefined && !wanted.has(key) && !stays.has(key))
    .sort()
  const isOurs = new Set(noted.filter((key) => wanted.has(key) || (stays.has(key) && labels[key] !== undefined)))
  for (const [key, value] of wanted) if (keys.includes(key) || labels[key] !== value) isOurs.add(key)
  const ours = [...isOurs].sort()
  if (add.length === 0 && remove.length === 0 && areSame(ours, labelsOfOurs)) return undefined
  const why = clusters.flatMap(({ key, cluster, at }) => {
    if (runs.includes(at)) return labels[key] === fenceLabelValue ? [] : [`OSDs of ${clusterId(cluster)} run on it`]
    return unknown.includes(at) || labels[key] === undefined ? [] : [`no OSD of ${clusterId(cluster)} runs on it`]
  })
  const { api, namespace, name } = machine
  const explanation = why.length > 0 ? why.join('; ') : explainRest(add.length, remove.length)
  return { api, namespace, machine: name, add: Object.fromEntries(add), remove, ours, explanation }
}

function explainRest(added: number, removed: number): string {
  if (added > 0) return 'the labels that Rook used to write are enabled'
  return removed > 0
    ? 'the labels that are removed are not needed any more'
    : "the record of Cofferdam's own labels was changed"
}

function areSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, at) => item === right[at])
}
