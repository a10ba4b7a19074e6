import type { LabelChange } from './decision.ts'
import { clusterId, fenceLabelPrefix, fenceLabelValue, isFormerKey, rookLabels } from './fence-labels.ts'
import { type LabelledCluster, placeOf } from './labelled-cluster.ts'
import type { MachineView } from './snapshot.ts'

/**
 * The labels that machines should carry: that of a cluster exactly while an OSD of it runs there.
 *
 * Guarantees: a label goes only when Kubernetes and Ceph both say that no OSD of the cluster runs on the machine, and a former
 * one of the cluster only when no budget selects by it any more; keys of clusters that are gone go only where we put them, and
 * so do Rook's older ones.
 */
export function decideLabels(machines: readonly MachineView[], clusters: readonly LabelledCluster[]): LabelChange[] {
  const keys = new Set(clusters.map(({ key }) => key))
  return machines.flatMap((machine) => labelChange(machine, clusters, keys) ?? [])
}

function labelChange(
  machine: MachineView,
  clusters: readonly LabelledCluster[],
  keys: ReadonlySet<string>,
): LabelChange | undefined {
  const { labels, labelsOfOurs } = machine
  const wanted = new Map<string, string>()
  const stays = new Set<string>()
  const why: string[] = []
  for (const labelled of clusters) {
    const place = placeOf(machine, labelled)
    if (place === 'runs') put(wanted, labelled)
    if (place === 'unknown') for (const key of keysOf(labelled)) stays.add(key)
    if (place !== 'none') for (const key of selectedStill(labelled)) stays.add(key)
    const carried = labels[labelled.key]
    if (place === 'runs' && carried !== fenceLabelValue) why.push(`OSDs of ${clusterId(labelled.cluster)} run on it`)
    if (place === 'none' && carried !== undefined) why.push(`no OSD of ${clusterId(labelled.cluster)} runs on it`)
  }
  const add = [...wanted].filter(([key, value]) => labels[key] !== value)
  const isOurs = new Set(labelsOfOurs.filter((key) => key.startsWith(fenceLabelPrefix)))
  const remove = [...new Set([...keys, ...isOurs])]
    .filter((key) => labels[key] !== undefined && !wanted.has(key) && !stays.has(key))
    .sort()
  for (const key of isOurs) {
    if (!wanted.has(key) && (!stays.has(key) || labels[key] === undefined)) isOurs.delete(key)
  }
  for (const key of wanted.keys()) if (keys.has(key) || labels[key] !== wanted.get(key)) isOurs.add(key)
  const ours = [...isOurs].sort()
  if (add.length === 0 && remove.length === 0 && areSame(ours, labelsOfOurs)) return undefined
  const { api, namespace, name } = machine
  const explanation = why.length > 0 ? why.join('; ') : explainRest(add.length, remove.length)
  return { api, namespace, machine: name, add: Object.fromEntries(add), remove, ours, explanation }
}

/** Keys that the cluster's machines carried before, and that a budget of it still selects by. */
function selectedStill({ cluster, key, budget, formerBudgets }: LabelledCluster): readonly string[] {
  if (budget?.labelKey === key && formerBudgets.length === 0) return []
  return [budget, ...formerBudgets].flatMap((seen) =>
    seen?.labelKey !== undefined && isFormerKey(seen.labelKey, cluster) ? [seen.labelKey] : [],
  )
}

function keysOf({ key, cluster }: LabelledCluster): readonly string[] {
  return cluster.settings.writesRookLabels ? [key, rookLabels.cluster, rookLabels.namespace] : [key]
}

/** Of two clusters that both want Rook's older labels on one machine, the first has them. */
function put(wanted: Map<string, string>, { key, cluster }: LabelledCluster): void {
  wanted.set(key, fenceLabelValue)
  if (!cluster.settings.writesRookLabels || wanted.has(rookLabels.cluster)) return
  wanted.set(rookLabels.cluster, cluster.name)
  wanted.set(rookLabels.namespace, cluster.namespace)
}

function explainRest(added: number, removed: number): string {
  if (added > 0) return 'the labels that Rook used to write are asked for'
  return removed > 0
    ? 'nothing needs the labels that go any more'
    : 'the note of which labels are ours was not as we left it'
}

function areSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, at) => item === right[at])
}
