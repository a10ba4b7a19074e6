import type { SickNode } from './choose-target.ts'
import type { GateChange } from './decision.ts'
import type { FencingIndex } from './fences.ts'
import { leaseSeconds } from './node-lease.ts'
import type { RemediatorView } from './snapshot.ts'

const leaseMs = leaseSeconds * 1_000

/**
 * What remediators are to be told about sick storage nodes that must stay for now. Nodes that are well, and those without OSDs,
 * are never touched; what we set is taken back when it is not needed any more, and nothing else is.
 */
export function decideGates(
  index: FencingIndex,
  sick: readonly SickNode[],
  targets: ReadonlySet<string>,
): GateChange[] {
  const held = sick.filter(({ node }) => !targets.has(node.name)).map(({ node }) => node.name)
  return [...leaseGates(index, held), ...machineGates(index, held, targets), ...pauseGates(index, held, targets)]
}

function watches({ nodes }: RemediatorView, node: string): boolean {
  return nodes === undefined || nodes.includes(node)
}

function leaseGates({ snapshot }: FencingIndex, held: readonly string[]): GateChange[] {
  const { leases, areLeasesUsed, remediators, nowMs } = snapshot
  const checks = remediators.filter(({ kind }) => kind === 'medik8s-nhc')
  const changes: GateChange[] = []
  for (const node of held) {
    if (!areLeasesUsed || !checks.some((check) => watches(check, node))) continue
    const lease = leases.get(node)
    const isTaken = lease !== undefined && !lease.isOurs && lease.validUntilMs > nowMs
    const isGood = lease?.isOurs === true && lease.validUntilMs - nowMs > leaseMs / 2
    if (isTaken || isGood) continue
    changes.push({ kind: 'hold-lease', node, explanation: `Storage cannot spare node ${node} now.` })
  }
  for (const [node, { isOurs }] of leases) {
    if (!isOurs || held.includes(node)) continue
    changes.push({ kind: 'free-lease', node, explanation: `Storage has no need to keep node ${node} any more.` })
  }
  return changes
}

function machineGates(
  { snapshot, nodes }: FencingIndex,
  held: readonly string[],
  targets: ReadonlySet<string>,
): GateChange[] {
  const isHeld = new Set(held)
  const letsOneGo = targetsOf(snapshot.remediators, 'openshift-mhc', targets)
  const changes: GateChange[] = []
  for (const { api, namespace, name, nodeName, isHookedByUs, skip, isBeingDeleted } of snapshot.machines) {
    const isKept = nodeName !== undefined && isHeld.has(nodeName)
    const about = { namespace, machine: name }
    const kept = `Storage cannot spare machine ${name} now.`
    const freed =
      nodeName !== undefined && nodes.get(nodeName)?.isReady === true ? 'Its node is well.' : 'It may be fenced.'
    if (api === 'cluster-api') {
      if (isKept && skip === undefined && !isBeingDeleted)
        changes.push({ kind: 'skip-machine', ...about, explanation: kept })
      if (!isKept && skip === 'ours') changes.push({ kind: 'unskip-machine', ...about, explanation: freed })
      continue
    }
    const isHooked = isKept && letsOneGo
    if (isHooked && !isHookedByUs && !isBeingDeleted)
      changes.push({ kind: 'hook-machine', ...about, explanation: kept })
    if (!isKept && isHookedByUs) changes.push({ kind: 'unhook-machine', ...about, explanation: freed })
  }
  return changes
}

function targetsOf(remediators: readonly RemediatorView[], kind: RemediatorView['kind'], targets: ReadonlySet<string>) {
  return remediators.some((check) => check.kind === kind && [...targets].some((node) => watches(check, node)))
}

/**
 * A health check of OpenShift knows no single machines, so as a whole it waits while none of its sick storage machines may go.
 * When one may, it runs again, and hooks keep the others. A NodeHealthCheck is paused only where there are no Leases.
 */
function pauseGates({ snapshot }: FencingIndex, held: readonly string[], targets: ReadonlySet<string>): GateChange[] {
  return snapshot.remediators.flatMap((check): GateChange[] => {
    const isPausable = check.kind === 'openshift-mhc' || (check.kind === 'medik8s-nhc' && !snapshot.areLeasesUsed)
    const keeps = held.filter((node) => watches(check, node))
    const lets = [...targets].some((node) => watches(check, node))
    const isWanted = isPausable && keeps.length > 0 && (check.kind === 'medik8s-nhc' || !lets)
    if (isWanted === check.isPausedByUs) return []
    const explanation = isWanted
      ? `Storage cannot spare ${keeps.join(', ')} now. The other nodes it looks after wait too.`
      : 'None of the nodes it looks after has to be kept by a pause.'
    return [{ kind: isWanted ? 'pause' : 'resume', remediator: check.key, remediatorKind: check.kind, explanation }]
  })
}
