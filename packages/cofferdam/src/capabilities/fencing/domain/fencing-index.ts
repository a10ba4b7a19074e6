import { ListIndex } from '../../../shared/read-lists.ts'
import { Remembered } from '../../../shared/remembered.ts'
import { machineBudgetNames } from './budget-name.ts'
import { decideLabels } from './decide-labels.ts'
import type { LabelChange } from './decision.ts'
import { clusterId, fenceLabelKeys, fenceLabelValue } from './fence-labels.ts'
import { KeptList } from './kept-list.ts'
import { KeptMap } from './kept-map.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import { type LostQuorum, lostQuorum } from './lost-quorum.ts'
import { Occupancies, type Occupancy } from './occupancy.ts'
import { type PlannedOutage, plannedOutages } from './planned-outages.ts'
import { freshEvidence, type RunningOsds, runningOsds } from './running-osds.ts'
import type {
  FencedCluster,
  FencedNodeView,
  FencingSnapshot,
  MachineBudgetView,
  MachineView,
  RemediatorView,
} from './snapshot.ts'

/** medik8s: as whom a health check takes the Lease of a node that it remediates. */
const remediatingHolder = /^(Node|Machine)HealthCheck-/

export interface FencingIndex {
  readonly snapshot: FencingSnapshot
  /** Managed clusters, in the order of their names, so that the first is always the same. */
  readonly clusters: readonly LabelledCluster[]
  readonly nodes: ReadonlyMap<string, FencedNodeView>
  readonly machinesByNode: ReadonlyMap<string, MachineView>
  /** Nodes that are rebooted on plan, and those that did not come back from that. */
  readonly outages: ReadonlyMap<string, PlannedOutage>
  /** Whether a node is rebooted on plan and its time is not over: it must not be fenced. */
  isPlanned(node: string): boolean
  /** Nodes that a remediator says it takes away now. */
  readonly remediating: ReadonlySet<string>
  /** Machines that are being taken away, or that a remediator was let through for. */
  readonly taken: readonly MachineView[]
  occupancyOf(node: string): Occupancy
  isReady(machine: MachineView): boolean
  /** Does an OSD of the cluster run on the machine? */
  placeOf(machine: MachineView, cluster: LabelledCluster): 'runs' | 'unknown' | 'none'
  /** Whether the machine counts as one that holds OSDs of the cluster: exactly when it carries the label once all is as decided. */
  isStorageMachine(machine: MachineView, cluster: LabelledCluster): boolean
  /** In the order of their names. */
  readonly placedNodes: readonly PlacedNode[]
  readonly machines: readonly PlacedMachine[]
  watches(remediator: RemediatorView, node: string): boolean
  /** Whether any remediator manages the node. */
  isWatched(node: string): boolean
}

/** A node, the name of its machine, and where OSDs run on it. */
export interface PlacedNode {
  readonly node: string
  readonly machine: string | undefined
  readonly occupancy: Occupancy
}

/** A machine, where OSDs run on it, and which of its labels change. */
export interface PlacedMachine {
  readonly machine: MachineView
  readonly occupancy: Occupancy
  readonly change: LabelChange | undefined
}

/** Takes one snapshot after the other, and does again only what a change can matter to. */
export function createFencingIndex(): (snapshot: FencingSnapshot) => FencingIndex {
  const nodeMap = new KeptMap<FencedNodeView>(({ name }) => name)
  const nodeOrder = new ListIndex(inOrder)
  const nodeNames = new ListIndex((names: readonly string[]) => names)
  const machineMap = new KeptMap<MachineView>(({ nodeName }) => nodeName)
  const machinesOnNodes = new ListIndex((names: readonly (string | undefined)[]) => ({ names: new Set(names) }))
  const absentMade = new Remembered()
  const namesMade = new Remembered()
  const claimedMade = new Remembered()
  const occupancies = new Occupancies()
  const osdsMade = new Remembered()
  const unclaimedMade = new Remembered()
  const placed = new KeptList<MachineView, PlacedMachine>()
  const onNodes = new KeptList<string, PlacedNode>()
  let machinesBefore: readonly MachineView[] = []
  const watchedMade = new Remembered()

  return (snapshot) => {
    const nodes = nodeMap.of(snapshot.nodes)
    const nodesInOrder = nodeOrder.of(snapshot.nodes)
    const names = namesMade.make(nodesInOrder, [], () => nodeNames.of(nodesInOrder.map(({ name }) => name)))
    const machinesByNode = machineMap.of(snapshot.machines)
    const claimed = claimedMade.make(snapshot.machines, [], () =>
      machinesOnNodes.of(snapshot.machines.map(({ nodeName }) => nodeName)),
    )
    const absent = absentMade.make(
      claimed,
      [names],
      () => new Set([...claimed.names].filter((name) => name !== undefined && !nodes.has(name))),
    )
    const outages = plannedOutages(snapshot, nodes, machinesByNode)
    const isPlanned = (node: string) => outages.get(node)?.isOver === false
    const unready = new Set(snapshot.nodes.flatMap(({ isReady, name }) => (isReady ? [] : [name])))
    const clusters = labelledClusters(snapshot, (cluster) => {
      const evidence = freshEvidence(cluster, snapshot.nowMs)
      const quorum = evidence.known ? undefined : lostQuorum(cluster, nodes, snapshot.nowMs, isPlanned)
      const released = quorum === undefined ? '' : [...quorum.released].join()
      const osds = osdsMade.make(cluster.osds, [evidence.known ? evidence.value.upOsds : undefined, released], () =>
        runningOsds(cluster, snapshot.nowMs, quorum?.released),
      )
      const unclaimed = unclaimedMade.make(osds, [claimed], () =>
        [...osds.running, ...osds.uncertain].filter((node) => !claimed.names.has(node)).sort(),
      )
      return { osds, unclaimed, quorum }
    })
    const moved = occupancies.update(clusters)
    const isAsBefore = (node: string | undefined) =>
      moved !== undefined && (moved.size === 0 || node === undefined || !moved.has(node))
    const remediating = remediatedNodes(snapshot)
    const areMachinesSame = snapshot.machines === machinesBefore
    machinesBefore = snapshot.machines

    const watches: FencingIndex['watches'] = ({ nodes: watched }, node) =>
      watched === undefined || watchedMade.make(watched, [], () => new Set(watched)).has(node)
    const placeOf: FencingIndex['placeOf'] = (machine, { at }) => {
      const { runs, unknown } = occupancies.ofMachine(machine)
      if (runs.includes(at)) return 'runs'
      return unknown.includes(at) ? 'unknown' : 'none'
    }
    return {
      snapshot,
      clusters,
      nodes,
      machinesByNode,
      outages,
      isPlanned,
      remediating,
      taken: takenMachines(snapshot, { machinesByNode, remediating, unready }),
      isReady: ({ nodeName }) => nodeName !== undefined && !unready.has(nodeName) && !absent.has(nodeName),
      placeOf,
      isStorageMachine(machine, cluster) {
        const place = placeOf(machine, cluster)
        return place === 'runs' || (place === 'unknown' && machine.labels[cluster.key] === fenceLabelValue)
      },
      occupancyOf: (node) => occupancies.ofNode(node),
      placedNodes: onNodes.of(
        names,
        (node) => ({ node, machine: machinesByNode.get(node)?.name, occupancy: occupancies.ofNode(node) }),
        moved?.size === 0 && areMachinesSame ? undefined : (node) => areMachinesSame && isAsBefore(node),
      ),
      machines: placed.of(
        snapshot.machines,
        (machine) => {
          const occupancy = occupancies.ofMachine(machine)
          return { machine, occupancy, change: decideLabels(machine, occupancy, clusters) }
        },
        moved?.size === 0 ? undefined : ({ nodeName }) => isAsBefore(nodeName),
      ),
      watches,
      isWatched: (node) => snapshot.remediators.some((remediator) => watches(remediator, node)),
    }
  }
}

function inOrder(nodes: readonly FencedNodeView[]): readonly FencedNodeView[] {
  const isSorted = nodes.every(({ name }, at) => at === 0 || (nodes[at - 1] as FencedNodeView).name < name)
  return isSorted ? nodes : [...nodes].sort((a, b) => (a.name < b.name ? -1 : 1))
}

type OsdsOf = (cluster: FencedCluster) => {
  readonly osds: RunningOsds
  readonly unclaimed: readonly string[]
  readonly quorum: LostQuorum | undefined
}

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

function remediatedNodes({ remediators, leases, nowMs }: FencingSnapshot): Set<string> {
  const nodes = new Set(remediators.flatMap(({ remediating }) => remediating))
  for (const [node, { holder, validUntilMs }] of leases) {
    if (validUntilMs > nowMs && remediatingHolder.test(holder)) nodes.add(node)
  }
  return nodes
}

function takenMachines(
  { budgets, machines }: FencingSnapshot,
  seen: Pick<FencingIndex, 'machinesByNode' | 'remediating'> & { readonly unready: ReadonlySet<string> },
): MachineView[] {
  const { machinesByNode, remediating, unready } = seen
  const taken = new Set(machines.filter((machine) => isTaken(machine, unready)))
  for (const node of remediating) {
    const machine = machinesByNode.get(node)
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

/**
 * While our pre-terminate hook is on a machine, it is only queued. While our pre-drain hook is, its node is drained by a request, which needs the storage
 * that a fence would hold; a node that is not Ready cannot be drained, and is taken soon.
 */
function isTaken(machine: MachineView, unready: ReadonlySet<string>): boolean {
  const { isBeingDeleted, isHookedByUs, isRemediated, isDrainedFirst = false, nodeName = '' } = machine
  const isKept = isHookedByUs || (isDrainedFirst && !unready.has(nodeName))
  return (isBeingDeleted && !isKept) || isRemediated === true
}
