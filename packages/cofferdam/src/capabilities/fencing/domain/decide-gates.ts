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
 * The annotations for remediators on sick storage nodes that must stay for now. Nodes that are well, and those without OSDs,
 * are never touched; what we set is taken back when it is not needed any more, and nothing else is. What keeps a machine comes
 * before what lets one go.
 */
export function decideGates(
  index: FencingIndex,
  sick: readonly SickNode[],
  { targets, forQuorum }: { readonly targets: ReadonlySet<string>; readonly forQuorum: NodesForQuorum },
): GateChange[] {
  const held = new Set(sick.flatMap(({ node }) => (targets.has(node.name) ? [] : [node.name])))
  const facts: GateFacts = { index, held, targets: new Set([...targets, ...forQuorum.released]), forQuorum }
  const changes = [...leaseGates(facts), ...machineGates(facts), ...pauseGates(facts)]
  return [...changes.filter(isHold), ...changes.filter((change) => !isHold(change))]
}

function isHold({ kind }: GateChange): boolean {
  return kind === 'hold-lease' || kind === 'skip-machine' || kind === 'hook-machine' || kind === 'pause'
}

function watchesAny({ index }: GateFacts, remediator: RemediatorView, nodes: ReadonlySet<string>): boolean {
  for (const node of nodes) if (index.watches(remediator, node)) return true
  return false
}

function leaseGates({ held, index }: GateFacts): GateChange[] {
  const { leases, areLeasesUsed, remediators, nowMs } = index.snapshot
  const checks = remediators.filter(({ kind }) => kind === 'medik8s-nhc')
  const changes: GateChange[] = []
  for (const node of held) {
    if (!areLeasesUsed || !checks.some((check) => index.watches(check, node))) continue
    const lease = leases.get(node)
    const isTaken = lease !== undefined && !lease.isOurs && lease.validUntilMs > nowMs
    const isGood = lease?.isOurs === true && lease.validUntilMs - nowMs > leaseMs / 2
    if (isTaken || isGood) continue
    changes.push({ kind: 'hold-lease', node, explanation: `Storage needs node ${node} now.` })
  }
  for (const [node, { isOurs }] of leases) {
    if (!isOurs || held.has(node)) continue
    changes.push({ kind: 'free-lease', node, explanation: `Storage does not need node ${node} any more.` })
  }
  return changes
}

function machineGates(facts: GateFacts): GateChange[] {
  const { index, held, targets } = facts
  const { machines, remediators } = index.snapshot
  const running = remediators.filter((check) => check.isHeldByHooks && watchesAny(facts, check, targets))
  const changes: GateChange[] = []
  for (const machine of machines) {
    const { api, namespace, name, nodeName, isHookedByUs, skip, isBeingDeleted } = machine
    const isKept = nodeName !== undefined && held.has(nodeName)
    if (!isKept && !isHookedByUs && skip !== 'ours') continue
    const about = { namespace, machine: name }
    const explanation = isKept ? `Storage needs machine ${name} now.` : explainFreed(index, machine)
    if (api === 'cluster-api') {
      if (isKept && skip === undefined && !isBeingDeleted) changes.push({ kind: 'skip-machine', ...about, explanation })
      if (!isKept && skip === 'ours') changes.push({ kind: 'unskip-machine', ...about, explanation })
      continue
    }
    const isHookWanted = isKept && running.some((check) => index.watches(check, nodeName))
    if (isHookWanted && !isHookedByUs && !isBeingDeleted) changes.push({ kind: 'hook-machine', ...about, explanation })
    if (!isKept && isHookedByUs) changes.push({ kind: 'unhook-machine', ...about, explanation })
  }
  return changes
}

function explainFreed({ nodes }: FencingIndex, { nodeName }: MachineView): string {
  return nodeName !== undefined && nodes.get(nodeName)?.isReady === true ? 'Its node is Ready.' : 'It may be fenced.'
}

/**
 * A health check of OpenShift knows no single machines, so as a whole it waits while none of its sick storage machines may go.
 * When one may, it runs again as soon as hooks are seen to keep the others; one that reboots machines without deleting them is
 * held up by no hook, and waits until it has none to keep. A NodeHealthCheck is paused only where there are no Leases, and then
 * for all. A check that can only wait as a whole does not wait for dead nodes while one of them is fenced to bring a monitor of
 * Ceph back: else the quorum would never return.
 */
function pauseGates(facts: GateFacts): GateChange[] {
  const { index, held, targets, forQuorum } = facts
  const { remediators, areLeasesUsed } = index.snapshot
  return remediators.flatMap((check): GateChange[] => {
    const { kind, key, isPausedByUs, isPausedByOthers, isHeldByHooks } = check
    const isAllOrNothing = kind === 'medik8s-nhc' || !isHeldByHooks
    const isForQuorum = isAllOrNothing && watchesAny(facts, check, forQuorum.released)
    const keeps = [...held].filter((node) => index.watches(check, node) && !(isForQuorum && forQuorum.dead.has(node)))
    const isWanted =
      (kind === 'medik8s-nhc' && !areLeasesUsed && keeps.length > 0) ||
      (kind === 'openshift-mhc' &&
        keeps.length > 0 &&
        (!isHeldByHooks ||
          !watchesAny(facts, check, targets) ||
          (isPausedByUs && keeps.some((node) => !isHooked(index, node)))))
    if (isWanted === isPausedByUs) return []
    // There is one annotation only, and while it is somebody else's it does what we want.
    if (isWanted && isPausedByOthers && kind === 'openshift-mhc') return []
    const explanation = isWanted
      ? `Storage needs ${namesOf(keeps)} now. The other nodes it remediates wait too.`
      : 'None of the nodes it remediates has to be kept by a pause.'
    return [{ kind: isWanted ? 'pause' : 'resume', remediator: key, remediatorKind: kind, explanation }]
  })
}

function isHooked({ machinesByNode }: FencingIndex, node: string): boolean {
  return machinesByNode.get(node)?.isHookedByUs === true
}

const mostNamed = 10

function namesOf(nodes: readonly string[]): string {
  const named = nodes.slice(0, mostNamed).join(', ')
  return nodes.length > mostNamed ? `${named} and ${nodes.length - mostNamed} more` : named
}
