import type { SickNode } from './choose-target.ts'
import type { GateChange } from './decision.ts'
import type { FencingIndex } from './fencing-index.ts'
import { leaseSeconds } from './node-lease.ts'
import type { MachineView, RemediatorView } from './snapshot.ts'

const leaseMs = leaseSeconds * 1_000

interface GateFacts {
  readonly index: FencingIndex
  /** Sick storage nodes that must stay for now. */
  readonly held: ReadonlySet<string>
  /** Nodes that are rebooted on plan; single ones are protected before they go. */
  readonly planned: ReadonlySet<string>
  /** Those that are not Ready now: what can only be paused as a whole is paused for these alone. */
  readonly away: ReadonlySet<string>
  /** Nodes that may go now. */
  readonly targets: ReadonlySet<string>
  readonly forQuorum: NodesForQuorum
}

/** Nodes with monitors that are gone while Ceph has no quorum. */
export interface NodesForQuorum {
  /** Nodes whose machines may be fenced now, and that nobody else needs. */
  readonly released: ReadonlySet<string>
  readonly dead: ReadonlySet<string>
}

/**
 * The annotations for remediators on sick storage nodes that must stay for now, and on nodes that are rebooted on plan. All others
 * are never touched; what we set is taken back when it is not needed any more, and nothing else is. What keeps a machine comes
 * before what lets one go. While it is not known who is rebooted on plan, nothing is taken back.
 */
export function decideGates(
  index: FencingIndex,
  sick: readonly SickNode[],
  { targets, forQuorum }: { readonly targets: ReadonlySet<string>; readonly forQuorum: NodesForQuorum },
): GateChange[] {
  const held = new Set(sick.flatMap(({ node }) => (targets.has(node.name) ? [] : [node.name])))
  const outages = [...index.outages.values()].filter(({ isOver }) => !isOver)
  const facts: GateFacts = {
    index,
    held,
    planned: new Set(outages.map(({ node }) => node)),
    away: new Set(outages.flatMap(({ node, awaySinceMs }) => (awaySinceMs === undefined ? [] : [node]))),
    targets: new Set([...targets, ...forQuorum.released]),
    forQuorum,
  }
  const changes = [...leaseGates(facts), ...machineGates(facts), ...pauseGates(facts)]
  const holds = changes.filter(isHold)
  return index.snapshot.reboots.known ? [...holds, ...changes.filter((change) => !isHold(change))] : holds
}

export function isHold({ kind }: GateChange): boolean {
  return kind === 'hold-lease' || kind === 'skip-machine' || kind === 'hook-machine' || kind === 'pause'
}

function watchesAny({ index }: GateFacts, remediator: RemediatorView, nodes: ReadonlySet<string>): boolean {
  for (const node of nodes) if (index.watches(remediator, node)) return true
  return false
}

function leaseGates({ held, planned, index }: GateFacts): GateChange[] {
  const { leases, areLeasesUsed, remediators, nowMs } = index.snapshot
  const checks = remediators.filter(({ kind }) => kind === 'medik8s-nhc')
  const kept = new Set([...held, ...planned])
  const changes: GateChange[] = []
  for (const node of kept) {
    if (!areLeasesUsed || !checks.some((check) => index.watches(check, node))) continue
    const lease = leases.get(node)
    const isTaken = lease !== undefined && !lease.isOurs && lease.validUntilMs > nowMs
    const isGood = lease?.isOurs === true && lease.validUntilMs - nowMs > leaseMs / 2
    if (isTaken || isGood) continue
    const explanation = held.has(node) ? `Storage needs node ${node} now.` : `Node ${node} is rebooted on plan.`
    changes.push({ kind: 'hold-lease', node, explanation })
  }
  for (const [node, { isOurs }] of leases) {
    if (!isOurs || kept.has(node)) continue
    changes.push({ kind: 'free-lease', node, explanation: `Nothing holds node ${node} any more.` })
  }
  return changes
}

function machineGates(facts: GateFacts): GateChange[] {
  const { index, held, planned, targets } = facts
  const { machines, remediators } = index.snapshot
  const running = remediators.filter((check) => check.isHeldByHooks && watchesAny(facts, check, targets))
  const skipping = remediators.filter(({ kind }) => kind === 'cluster-api-mhc')
  const changes: GateChange[] = []
  for (const machine of machines) {
    const { api, namespace, name, nodeName, isHookedByUs, skip, isBeingDeleted } = machine
    const isHeld = nodeName !== undefined && held.has(nodeName)
    const isPlanned = nodeName !== undefined && planned.has(nodeName)
    if (!isHeld && !isPlanned && !isHookedByUs && skip !== 'ours') continue
    const about = { namespace, machine: name }
    const explanation = explainMachine(index, machine, { isHeld, isPlanned })
    if (api === 'cluster-api') {
      const isWanted = isHeld || (isPlanned && skipping.some((check) => index.watches(check, nodeName)))
      if (isWanted && skip === undefined && !isBeingDeleted) {
        changes.push({ kind: 'skip-machine', ...about, explanation })
      }
      if (!isHeld && !isPlanned && skip === 'ours') changes.push({ kind: 'unskip-machine', ...about, explanation })
      continue
    }
    const isHookWanted = isHeld && running.some((check) => index.watches(check, nodeName))
    if (isHookWanted && !isHookedByUs && !isBeingDeleted) changes.push({ kind: 'hook-machine', ...about, explanation })
    // A hook holds up what cannot be taken back; it does not keep a machine from being deleted.
    const isHookKept = isHeld || (isPlanned && isBeingDeleted)
    if (!isHookKept && isHookedByUs) changes.push({ kind: 'unhook-machine', ...about, explanation })
  }
  return changes
}

function explainMachine(
  { nodes }: FencingIndex,
  { name, nodeName }: MachineView,
  { isHeld, isPlanned }: { readonly isHeld: boolean; readonly isPlanned: boolean },
): string {
  if (isHeld) return `Storage needs machine ${name} now.`
  if (isPlanned) return `Its node ${nodeName} is rebooted on plan.`
  return nodeName !== undefined && nodes.get(nodeName)?.isReady === true ? 'Its node is Ready.' : 'It may be fenced.'
}

/**
 * A health check of OpenShift knows no single machines, so as a whole it waits while none of its sick storage machines may go.
 * When one may, it runs again as soon as hooks are seen to keep the others; one that reboots machines without deleting them is
 * held up by no hook, and waits until it has none to keep. A NodeHealthCheck is paused only where there are no Leases, and then
 * for all. A check that can only wait as a whole does not wait for dead nodes while one of them is fenced to bring a monitor of
 * Ceph back: else the quorum would never return. For a node that is away on plan each of them waits, whatever else it could do:
 * that ends soon, and a Machine that was deleted does not come back.
 */
function pauseGates(facts: GateFacts): GateChange[] {
  const { index, away } = facts
  const { areLeasesUsed } = index.snapshot
  return index.snapshot.remediators.flatMap((check): GateChange[] => {
    const { kind, key, isPausedByUs, isPausedByOthers } = check
    const keeps = storageKeeps(facts, check)
    const isPausable = kind === 'openshift-mhc' || (kind === 'medik8s-nhc' && !areLeasesUsed)
    const gone = isPausable ? [...away].filter((node) => index.watches(check, node)) : []
    const isForStorage = keeps.length > 0 && (kind === 'medik8s-nhc' || isPausedForStorage(facts, check, keeps))
    const isWanted = isPausable && (isForStorage || gone.length > 0)
    if (isWanted === isPausedByUs) return []
    // There is one annotation only, and while it is somebody else's it does what we want.
    if (isWanted && isPausedByOthers && kind === 'openshift-mhc') return []
    const words = [
      ...(isForStorage ? [`Storage needs ${namesOf(keeps)} now.`] : []),
      ...(gone.length === 0 ? [] : [`Rebooted on plan: ${namesOf(gone)}.`]),
    ]
    const explanation = isWanted
      ? `${words.join(' ')} The other nodes it remediates wait too.`
      : 'None of the nodes it remediates has to be kept by a pause.'
    return [{ kind: isWanted ? 'pause' : 'resume', remediator: key, remediatorKind: kind, explanation }]
  })
}

/** The sick storage nodes for which a check would wait. */
function storageKeeps(facts: GateFacts, check: RemediatorView): readonly string[] {
  const { index, held, forQuorum } = facts
  const isAllOrNothing = check.kind === 'medik8s-nhc' || !check.isHeldByHooks
  const isForQuorum = isAllOrNothing && watchesAny(facts, check, forQuorum.released)
  return [...held].filter((node) => index.watches(check, node) && !(isForQuorum && forQuorum.dead.has(node)))
}

function isPausedForStorage(facts: GateFacts, check: RemediatorView, keeps: readonly string[]): boolean {
  const { index, targets } = facts
  const { isHeldByHooks, isPausedByUs } = check
  if (!isHeldByHooks || !watchesAny(facts, check, targets)) return true
  return isPausedByUs && keeps.some((node) => !isHooked(index, node))
}

function isHooked({ machinesByNode }: FencingIndex, node: string): boolean {
  return machinesByNode.get(node)?.isHookedByUs === true
}

const mostNamed = 10

function namesOf(nodes: readonly string[]): string {
  const named = nodes.slice(0, mostNamed).join(', ')
  return nodes.length > mostNamed ? `${named} and ${nodes.length - mostNamed} more` : named
}
