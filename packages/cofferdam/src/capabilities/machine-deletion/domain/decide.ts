import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { askedByAnnotation, madeForLabel } from '../../../shared/made-for.ts'
import { known } from '../../../shared/observed.ts'
import { decideToolRequests, requestFor, type WantedNode } from '../../../shared/tool-request.ts'
import { type JudgedMachine, judgeMachine } from './judge-machine.ts'
import type { MachineDeletionSnapshot, MachineNode, MachineView } from './snapshot.ts'
import type { MachineDeletionStep } from './steps.ts'

/** As its requests name it. */
export const toolName = 'machine-deletion'

export interface MachineDeletionDecision {
  readonly steps: readonly MachineDeletionStep[]
  /** When a node that is not Ready would count as dead. */
  readonly recheckAfterMs?: number
}

/**
 * Which Machines get our pre-drain hook, whose nodes are drained because they are being deleted, and which may go.
 *
 * Guarantees: only Machines whose owner asks for it get the hook, and only before they are deleted. The hook is taken away when the node is drained, or cannot be.
 * Fails closed: while Machines, nodes or requests are not known, no hook is taken away and no request is made.
 */
export function decideMachineDeletion(snapshot: MachineDeletionSnapshot): MachineDeletionDecision {
  const { machines, nodes, requests, nowMs } = snapshot
  if (!machines.known || !nodes.known || !requests.known) return { steps: [] }
  const nodesByName = new Map(nodes.value.map((node) => [node.name, node]))
  const nodesByProvider = new Map(nodes.value.map((node) => [node.providerID, node]))
  const judged = machines.value.map((machine) => {
    if (machine.deletedSinceMs === undefined) return judgeMachine(machine, { ...unasked, nowMs })
    const node = nodeOf(machine, nodesByName, nodesByProvider)
    const onNode = requests.value.filter(({ spec }) => spec.nodeName === node?.name)
    const own = node === undefined ? undefined : requestFor({ tool: toolName, requests }, node.name)
    return judgeMachine(machine, { node, own, isEmptied: onNode.some((request) => empties(request, node)), nowMs })
  })
  const wanted = [
    ...judged.flatMap((each) => (each.wants === undefined ? [] : [buildWanted(each, each.wants, requests.value)])),
    ...requests.value
      .filter((request) => isStanding(request) && !nodesByName.has(request.spec.nodeName))
      .map(asItStands),
  ]
  const waits = judged.flatMap(({ deadInMs }) => (deadInMs === undefined ? [] : [deadInMs]))
  return {
    steps: [
      ...decideToolRequests({ tool: toolName, wanted: known(wanted), requests }),
      ...judged.flatMap(({ steps }) => steps),
    ],
    ...(waits.length === 0 ? {} : { recheckAfterMs: Math.min(...waits) }),
  }
}

/** Of a Machine that stays. */
const unasked = { node: undefined, own: undefined, isEmptied: false }

/** Its own node and no other of that name: Machines of other clusters may be kept here too. */
function nodeOf(
  machine: MachineView,
  byName: ReadonlyMap<string, MachineNode>,
  byProvider: ReadonlyMap<string | undefined, MachineNode>,
): MachineNode | undefined {
  const { nodeName, nodeUid, providerID } = machine
  if (nodeName === undefined) return providerID === undefined ? undefined : byProvider.get(providerID)
  const node = byName.get(nodeName)
  if (node === undefined || (nodeUid !== undefined && nodeUid !== node.uid)) return undefined
  const isOther = providerID !== undefined && node.providerID !== undefined && providerID !== node.providerID
  return isOther ? undefined : node
}

/** Whoever asked for it: the node is drained, and nothing was to stay. */
function empties({ metadata, spec, status }: NodeDisruption, node: MachineNode | undefined): boolean {
  if (status?.phase !== 'Drained' || metadata.deletionTimestamp !== undefined || spec.intent === 'Reboot') return false
  return node !== undefined && (status.nodeUid === undefined || status.nodeUid === node.uid)
}

/**
 * A deletion cannot be taken back: when its request is over and the node is there still, somebody has uncordoned it, and it is drained once more.
 */
function buildWanted({ machine }: JudgedMachine, node: MachineNode, requests: readonly NodeDisruption[]): WantedNode {
  const askedBy = `machine/${machine.namespace}/${machine.name}`
  const before = requests.filter(
    ({ metadata, status }) =>
      metadata.labels?.[madeForLabel] === toolName &&
      metadata.annotations?.[askedByAnnotation] === askedBy &&
      status?.phase === 'Completed',
  )
  return {
    nodeName: node.name,
    askedBy,
    identity: [machine.uid, ...before.map(() => 'again')].join(' '),
    reason: `Machine ${machine.namespace}/${machine.name} is being deleted`,
    // As the machine controllers drain: nothing that is on the node outlives it.
    spec: { intent: 'Remove', honourSkipDrain: false, force: true, deleteEmptyDirData: true },
  }
}

function isStanding({ metadata, status }: NodeDisruption): boolean {
  if (metadata.labels?.[madeForLabel] !== toolName || metadata.deletionTimestamp !== undefined) return false
  return status?.phase !== 'Completed' && status?.phase !== 'Rejected'
}

/** A request whose node has gone ends by itself; withdrawn, it would leave no record. */
function asItStands({ metadata, spec }: NodeDisruption): WantedNode {
  const { nodeName, reason = '', ...rest } = spec
  return { nodeName, askedBy: '', identity: metadata.name, reason, spec: rest }
}
