import { ListIndex } from '../longhorn-drain/read-lists.ts'
import { Remembered } from '../longhorn-drain/remembered.ts'
import { machineBudgetNames } from './budget-name.ts'
import { decideLabels } from './decide-labels.ts'
import type { LabelChange } from './decision.ts'
import { clusterId, fenceLabelKeys, fenceLabelValue } from './fence-labels.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import { Occupancies, type Occupancy } from './occupancy.ts'
import { freshEvidence, type RunningOsds, runningOsds } from './running-osds.ts'
import type { FencedCluster, FencedNodeView, FencingSnapshot, MachineBudgetView, MachineView } from './snapshot.ts'

/** Of medik8s: as whom a health check takes the Lease of a node that it remediates. */
const remediatingHolder = /^(Node|Machine)HealthCheck-/

export interface FencingIndex {
  readonly snapshot: FencingSnapshot
  /** Those that are looked after, in the order of their names, so that whoever comes first does so every time. */
  readonly clusters: readonly LabelledCluster[]
  readonly nodes: ReadonlyMap<string, FencedNodeView>
  /** In the order of their names. */
  readonly nodesInOrder: readonly FencedNodeView[]
  readonly machinesByNode: ReadonlyMap<string, MachineView>
  /** Nodes that a remediator says it takes away now. */
  readonly remediating: ReadonlySet<string>
  /** Machines that are being taken away, or that a remediator was let through for. */
  readonly taken: readonly MachineView[]
  occupancyOf(node: string): Occupancy
  /** Does an OSD of the cluster run on the machine? */
  placeOf(machine: MachineView, cluster: LabelledCluster): 'runs' | 'unknown' | 'none'
  /** Whether the machine counts as one that holds OSDs of the cluster: exactly when it carries the label once all is as decided. */
  isStorageMachine(machine: MachineView, cluster: LabelledCluster): boolean
  occupancyOfMachine(machine: MachineView): Occupancy
  labelChangeOf(machine: MachineView, occupancy: Occupancy): LabelChange | undefined
}

/** Looks at one snapshot after the other, and does again only what a change can matter to. */
export function createFencingIndex(): (snapshot: FencingSnapshot) => FencingIndex {
  const nodeIndex = new ListIndex((nodes: readonly FencedNodeView[]) => ({
    byName: new Map(nodes.map((node) => [node.name, node])),
    inOrder: isInOrder(nodes) ? nodes : [...nodes].sort((a, b) => (a.name < b.name ? -1 : 1)),
  }))
  const machineIndex = new ListIndex(indexMachines)
  const occupancies = new Occupancies()
  const osdsMade = new Remembered()
  const unclaimedMade = new Remembered()
  let labelsMade = new Remembered()
  let labelStamp = ''

  return (snapshot) => {
    const { byName, inOrder } = nodeIndex.of(snapshot.nodes)
    const { machinesByNode, leaving } = machineIndex.of(snapshot.machines)
    const clusters = labelledClusters(snapshot, (cluster) => {
      const evidence = freshEvidence(cluster, snapshot.nowMs)
      const osds = osdsMade.make(cluster.osds, [evidence.known ? evidence.value.upOsds : undefined], () =>
        runningOsds(cluster, snapshot.nowMs),
      )
      const unclaimed = unclaimedMade.make(osds, [machinesByNode], () =>
        [...osds.running, ...osds.uncertain].filter((node) => !machinesByNode.has(node)).sort(),
      )
      return { osds, unclaimed }
    })
    occupancies.update(clusters)
    const stamp = clusters.map(({ cluster, key }) => `${clusterId(cluster)} ${key}`).join(' ')
    if (stamp !== labelStamp) labelsMade = new Remembered()
    labelStamp = stamp
    const remediating = remediatedNodes(snapshot)

    const placeOf: FencingIndex['placeOf'] = (machine, { at }) => {
      const { runs, unknown } = occupancies.ofMachine(machine)
      if (runs.includes(at)) return 'runs'
      return unknown.includes(at) ? 'unknown' : 'none'
    }
    return {
      snapshot,
      clusters,
      nodes: byName,
      nodesInOrder: inOrder,
      machinesByNode,
      remediating,
      taken: takenMachines(snapshot, { machinesByNode, leaving, remediating }),
      placeOf,
      isStorageMachine(machine, cluster) {
        const place = placeOf(machine, cluster)
        return place === 'runs' || (place === 'unknown' && machine.labels[cluster.key] === fenceLabelValue)
      },
      occupancyOf: (node) => occupancies.ofNode(node),
      occupancyOfMachine: (machine) => occupancies.ofMachine(machine),
      labelChangeOf: (machine, occupancy) =>
        labelsMade.make(machine, [occupancy], () => decideLabels(machine, occupancy, clusters)),
    }
  }
}

function isInOrder(nodes: readonly FencedNodeView[]): boolean {
  return nodes.every(({ name }, at) => at === 0 || (nodes[at - 1] as FencedNodeView).name < name)
}

type OsdsOf = (cluster: FencedCluster) => { readonly osds: RunningOsds; readonly unclaimed: readonly string[] }

function labelledClusters({ clusters, budgets }: FencingSnapshot, osdsOf: OsdsOf): LabelledCluster[] {
  const keys = fenceLabelKeys(clusters)
  const managed = clusters
    .filter(({ settings }) => settings.isManaged)
    .sort((a, b) => (clusterId(a) < clusterId(b) ? -1 : 1))
  const names = machineBudgetNames(managed)
  return managed.map((cluster, at): LabelledCluster => {
    const id = clusterId(cluster)
    const budgetName = names.get(id) as string
    const isWanted = ({ namespace, name }: MachineBudgetView) =>
      namespace === cluster.settings.budgetNamespace && name === budgetName
    return {
      cluster,
      at,
      key: keys.get(id) as string,
      ...osdsOf(cluster),
      budgetName,
      budget: budgets.find(isWanted),
      formerBudgets: budgets.filter(
        (budget) => budget.isOurs && budget.clusterUid === cluster.uid && !isWanted(budget),
      ),
    }
  })
}

interface MachineIndex {
  readonly machinesByNode: ReadonlyMap<string, MachineView>
  /** Those that say themselves that they are being taken away. */
  readonly leaving: readonly MachineView[]
}

function indexMachines(machines: readonly MachineView[]): MachineIndex {
  const machinesByNode = new Map<string, MachineView>()
  const leaving: MachineView[] = []
  for (const machine of machines) {
    const { nodeName, isBeingDeleted, isHookedByUs, isRemediated } = machine
    if (nodeName !== undefined) machinesByNode.set(nodeName, machine)
    // While our hook is on it, it only waits for its turn.
    if ((isBeingDeleted && !isHookedByUs) || isRemediated === true) leaving.push(machine)
  }
  return { machinesByNode, leaving }
}

function remediatedNodes({ remediators, leases, nowMs }: FencingSnapshot): Set<string> {
  const nodes = new Set(remediators.flatMap(({ remediating }) => remediating))
  for (const [node, { holder, validUntilMs }] of leases) {
    if (validUntilMs > nowMs && remediatingHolder.test(holder)) nodes.add(node)
  }
  return nodes
}

function takenMachines(
  { budgets, machines }: FencingSnapshot,
  seen: MachineIndex & Pick<FencingIndex, 'remediating'>,
): MachineView[] {
  const taken = new Set(seen.leaving)
  for (const node of seen.remediating) {
    const machine = seen.machinesByNode.get(node)
    if (machine !== undefined) taken.add(machine)
  }
  for (const { namespace, disrupted } of budgets) {
    if (disrupted.size === 0) continue
    for (const machine of machines) {
      if (machine.namespace === namespace && disrupted.has(machine.name)) taken.add(machine)
    }
  }
  return [...taken]
}
