import type { LabelChange } from './decision.ts'
import { clusterId, fenceLabelValue, rookLabels } from './fence-labels.ts'
import type { RunningOsds } from './running-osds.ts'
import type { FencedCluster, MachineView } from './snapshot.ts'

export interface LabelledCluster {
  readonly cluster: FencedCluster
  readonly key: string
  readonly osds: RunningOsds
}

/**
 * The labels that machines should carry: that of a cluster exactly while an OSD of it runs there.
 *
 * Guarantees: a label goes only when Kubernetes and Ceph both say that no OSD of the cluster runs on the machine; keys of
 * clusters that are gone go only where we put them.
 */
export function decideLabels(machines: readonly MachineView[], clusters: readonly LabelledCluster[]): LabelChange[] {
  const keys = new Set(clusters.map(({ key }) => key))
  return machines.flatMap((machine) => labelChange(machine, clusters, keys) ?? [])
}

/** Whether the machine counts as one that holds OSDs of the cluster: by its label, or because it is about to carry it. */
export function isStorageMachine({ labels, nodeName }: MachineView, { key, osds }: LabelledCluster): boolean {
  if (nodeName !== undefined && osds.running.has(nodeName)) return true
  return labels[key] === fenceLabelValue && (nodeName === undefined || !osds.down.has(nodeName))
}

function labelChange(
  machine: MachineView,
  clusters: readonly LabelledCluster[],
  keys: ReadonlySet<string>,
): LabelChange | undefined {
  if (machine.isBeingDeleted) return undefined
  const wanted: Record<string, string> = {}
  const stays = new Set<string>()
  const why: string[] = []
  for (const labelled of clusters) {
    const place = placeOf(machine, labelled)
    if (place === 'runs') put(wanted, labelled)
    if (place === 'unknown') for (const key of keysOf(labelled)) stays.add(key)
    if (place === 'runs' && machine.labels[labelled.key] !== fenceLabelValue) {
      why.push(`OSDs of ${clusterId(labelled.cluster)} run on it`)
    }
    if (place === 'none' && machine.labels[labelled.key] !== undefined) {
      why.push(`no OSD of ${clusterId(labelled.cluster)} runs on it`)
    }
  }
  const { labels, labelsOfOurs } = machine
  const add = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => labels[key] !== value))
  const isGone = (key: string) => wanted[key] === undefined && !stays.has(key)
  const remove = [...new Set([...keys, ...labelsOfOurs])]
    .filter((key) => labels[key] !== undefined && isGone(key))
    .sort()
  if (Object.keys(add).length === 0 && remove.length === 0) return undefined
  const ours = [...new Set([...Object.keys(wanted), ...labelsOfOurs.filter((key) => stays.has(key))])].sort()
  const { api, namespace, name } = machine
  const explanation = why.length === 0 ? 'the clusters that its labels name are gone' : why.join('; ')
  return { api, namespace, machine: name, add, remove, ours, explanation }
}

function placeOf({ nodeName }: MachineView, { osds }: LabelledCluster): 'runs' | 'unknown' | 'none' {
  if (nodeName !== undefined && osds.running.has(nodeName)) return 'runs'
  if (nodeName !== undefined && osds.uncertain.has(nodeName)) return 'unknown'
  return osds.unplaced === undefined ? 'none' : 'unknown'
}

function keysOf({ key, cluster }: LabelledCluster): readonly string[] {
  return cluster.settings.writesRookLabels ? [key, rookLabels.cluster, rookLabels.namespace] : [key]
}

function put(wanted: Record<string, string>, { key, cluster }: LabelledCluster): void {
  wanted[key] = fenceLabelValue
  if (!cluster.settings.writesRookLabels) return
  wanted[rookLabels.cluster] = cluster.name
  wanted[rookLabels.namespace] = cluster.namespace
}
