import { isStorageMachine, type LabelledCluster } from './decide-labels.ts'
import type { Fence } from './decision.ts'
import { freshEvidence } from './running-osds.ts'
import type { FencedNodeView, FencingSnapshot, MachineBudgetView, MachineView, RecordedFence } from './snapshot.ts'

/** How long Ceph may take to notice that OSDs are gone: evidence from before that proves nothing. */
const noticeMs = 60_000
/** A machine that is well on the same boot for so long was spared after all. */
const sparedAfterMs = 10 * 60_000

export interface FencingIndex {
  readonly snapshot: FencingSnapshot
  readonly nodes: ReadonlyMap<string, FencedNodeView>
  readonly machinesByNode: ReadonlyMap<string, MachineView>
  readonly machinesByName: ReadonlyMap<string, MachineView>
  /** Nodes that a remediator says it takes away now. */
  readonly remediating: ReadonlySet<string>
}

export function indexFencing(snapshot: FencingSnapshot): FencingIndex {
  const machinesByNode = new Map<string, MachineView>()
  const machinesByName = new Map<string, MachineView>()
  for (const machine of snapshot.machines) {
    machinesByName.set(machine.name, machine)
    if (machine.nodeName !== undefined) machinesByNode.set(machine.nodeName, machine)
  }
  return {
    snapshot,
    nodes: new Map(snapshot.nodes.map((node) => [node.name, node])),
    machinesByNode,
    machinesByName,
    remediating: new Set(snapshot.remediators.flatMap(({ remediating }) => remediating)),
  }
}

/**
 * The fences of one cluster: those on record, and those that begin now. One that was seen is remembered until it is over, also
 * when its machine is gone.
 *
 * Guarantees: none is over before its machine is gone or back, and Ceph, asked after it must have noticed, is clean.
 */
export function fencesOf(
  index: FencingIndex,
  labelled: LabelledCluster,
  budget: MachineBudgetView | undefined,
): Fence[] {
  const { namespace, name, uid } = labelled.cluster
  const found = new Map<string, RecordedFence>(budget?.fences)
  for (const [machine, sinceMs] of budget?.disrupted ?? []) {
    if (!found.has(machine)) found.set(machine, begun(index, labelled, machine, sinceMs))
  }
  for (const machine of index.snapshot.machines) {
    const isTaken =
      machine.isBeingDeleted || (machine.nodeName !== undefined && index.remediating.has(machine.nodeName))
    if (!isTaken || found.has(machine.name) || !isStorageMachine(machine, labelled)) continue
    found.set(machine.name, begun(index, labelled, machine.name, index.snapshot.nowMs))
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([machine, record]) => ({
      cluster: { namespace, name, uid },
      machine,
      ...record,
      isOver: isOver(index, labelled, machine, record),
    }))
}

function begun(index: FencingIndex, { osds }: LabelledCluster, machine: string, sinceMs: number): RecordedFence {
  const node = index.machinesByName.get(machine)?.nodeName ?? ''
  const domains = osds.domains.get(node) ?? []
  return {
    node,
    bootID: index.nodes.get(node)?.bootID ?? '',
    scope: domains.length === 1 ? (domains[0] ?? '') : '',
    sinceMs,
  }
}

function isOver(index: FencingIndex, { cluster }: LabelledCluster, name: string, record: RecordedFence): boolean {
  const { nowMs } = index.snapshot
  const evidence = freshEvidence(cluster, nowMs)
  if (!evidence.known || !evidence.value.isClean.known || !evidence.value.isClean.value) return false
  if (evidence.value.lookedAtMs < record.sinceMs + noticeMs) return false
  const machine = index.machinesByName.get(name)
  if (machine === undefined) return true
  const node = index.nodes.get(record.node)
  if (machine.isBeingDeleted || node?.isReady !== true || index.remediating.has(record.node)) return false
  const isRebooted = record.bootID !== '' && node.bootID !== record.bootID
  return isRebooted || nowMs - record.sinceMs >= sparedAfterMs
}
