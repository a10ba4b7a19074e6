import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import { medik8sLeaseNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { pendingFor } from '../domain/as-written.ts'
import type { ClusterAnswer, Fence } from '../domain/decision.ts'
import { hookName, skipAnnotation } from '../domain/marks.ts'
import type { PlannedOutage } from '../domain/planned-outages.ts'
import type { MachineView, RemediatorView } from '../domain/snapshot.ts'
import type { FencingView } from './fencing-view.ts'

/** May the machine of a node be fenced now, what holds it, and who would do it? */
export interface FencingAnswer {
  /** `openshift-machine-api/worker-a1`; left out where no Machine has the node. */
  readonly machine?: string
  readonly mayFence: boolean
  readonly reason: string
  readonly explanation: string
  /** What would change it; left out where it may be fenced. */
  readonly wayOut?: string
  /** The fence of this node that is not over. */
  readonly underWay?: { readonly since: string; readonly cluster: string }
  /** The request for a reboot that protects the node, or did. */
  readonly planned?: PlannedAnswer
  /** The machine budgets that cover it, one for each Ceph cluster with OSDs on the node. */
  readonly budgets: readonly MachineBudgetAnswer[]
  /** What keeps remediators from this very node, or from the machines it is among. */
  readonly gates: readonly string[]
  readonly remediators: readonly RemediatorAnswer[]
  /** Whether an operator keeps all this up to date; left out where it is not known, or nothing holds the node. */
  readonly isAttended?: boolean
  readonly unattendedSince?: string
}

export interface PlannedAnswer {
  /** The name of the NodeDisruption. */
  readonly request: string
  readonly by: string
  /** Left out while the node is Ready. */
  readonly awaySince?: string
  /** Left out while that counts from when the node stops being Ready. */
  readonly until?: string
  /** As in `1h`: how long the node may be away. */
  readonly returnWithin: string
  readonly isOver: boolean
}

export interface MachineBudgetAnswer {
  /** `openshift-machine-api/rook-ceph-rook-ceph` */
  readonly budget: string
  /** `rook-ceph/rook-ceph` */
  readonly cluster: string
  /** How many machines may be taken now. */
  readonly allowed: number
  readonly healthy: number
  readonly expected: number
  readonly reason: string
}

export interface RemediatorAnswer {
  /** `openshift-mhc/openshift-machine-api/workers`, `medik8s-nhc/workers` */
  readonly remediator: string
  /** Whether a controller manages it. */
  readonly listens: boolean
  /** Why that is not so, or not known. */
  readonly why?: string
  /** `us`: because storage cannot lose a node it manages. */
  readonly pausedBy?: 'us' | 'others'
}

/** Undefined where there are neither Machines nor NodeHealthChecks. */
export function answerFencing(view: FencingView, nodeName: string): FencingAnswer | undefined {
  const { snapshot, decision, isAttended, unattendedSince } = view
  if (!snapshot.areMachinesServed && !snapshot.areNodeChecksServed) return undefined
  const machine = snapshot.machines.find((each) => each.nodeName === nodeName)
  const clusters = clustersOn(view, nodeName)
  const fence = decision.fences.find(({ node, isOver }) => node === nodeName && !isOver)
  const outage = decision.outages.find(({ node }) => node === nodeName)
  const isConcerned = clusters.length > 0 || outage !== undefined
  const { wayOut, ...verdict } = verdictOf(view, nodeName, machine)
  return {
    ...(machine === undefined ? {} : { machine: `${machine.namespace}/${machine.name}` }),
    ...verdict,
    ...(wayOut === '' ? {} : { wayOut }),
    ...(fence === undefined ? {} : { underWay: underWayOf(fence) }),
    ...(outage === undefined ? {} : { planned: plannedAnswer(outage) }),
    budgets: clusters.flatMap((cluster) => budgetAnswer(view, cluster)),
    gates: gatesOf(view, nodeName, machine),
    remediators: remediatorsOf(view, nodeName).map(remediatorAnswer),
    ...(isAttended === undefined || !isConcerned ? {} : { isAttended }),
    ...(unattendedSince === undefined || !isConcerned ? {} : { unattendedSince }),
  }
}

type Verdict = Pick<FencingAnswer, 'mayFence' | 'explanation'> & { readonly reason: Reason; readonly wayOut: string }

function verdictOf(view: FencingView, nodeName: string, machine: MachineView | undefined): Verdict {
  const decided = view.decision.nodes.find(({ node }) => node === nodeName)
  if (decided !== undefined) {
    const { mayFence, reason, explanation, wayOut } = decided
    return { mayFence, reason, explanation, wayOut }
  }
  const pending = pendingFor(view.snapshot, machine)
  if (pending !== undefined) return pending
  const free = { mayFence: true, wayOut: '' }
  const unmanaged = clustersOn(view, nodeName).find(({ budget }) => budget === undefined)
  if (unmanaged !== undefined) return { ...free, reason: unmanaged.reason, explanation: unmanaged.explanation }
  const explanation =
    machine === undefined
      ? 'No Machine has this node, and no OSD is on it: storage does not hold it back.'
      : 'No OSD is on it, so storage does not hold it back.'
  return { ...free, reason: 'MachineHasNoOsds', explanation }
}

/** Clusters with an OSD on the node, whether it runs or not. */
function clustersOn({ snapshot, decision }: FencingView, nodeName: string): ClusterAnswer[] {
  const isOn = ({ osds }: (typeof snapshot.clusters)[number]) =>
    osds.some((osd) => osd.nodeName.known && osd.nodeName.value === nodeName)
  const uids = new Set(snapshot.clusters.filter(isOn).map(({ uid }) => uid))
  return decision.clusters.filter(({ uid }) => uids.has(uid))
}

/** As a remediator reads it. */
function budgetAnswer(
  { snapshot }: FencingView,
  { namespace, name, budget, reason }: ClusterAnswer,
): MachineBudgetAnswer[] {
  const seen = snapshot.budgets.find((each) => each.namespace === budget?.namespace && each.name === budget.name)
  if (budget === undefined || seen === undefined) return []
  const { disruptionsAllowed, currentHealthy, expectedMachines } = seen.status
  return [
    {
      budget: `${budget.namespace}/${budget.name}`,
      cluster: `${namespace}/${name}`,
      allowed: Math.max(0, disruptionsAllowed),
      healthy: Math.max(0, currentHealthy),
      expected: Math.max(0, expectedMachines),
      reason,
    },
  ]
}

function underWayOf({ cluster, sinceMs }: Fence): NonNullable<FencingAnswer['underWay']> {
  return { since: rfc3339(sinceMs), cluster: `${cluster.namespace}/${cluster.name}` }
}

export function plannedAnswer(outage: PlannedOutage): PlannedAnswer {
  const { request, by, awaySinceMs, untilMs, returnWithinMs, isOver } = outage
  return {
    request,
    by,
    ...(awaySinceMs === undefined ? {} : { awaySince: rfc3339(awaySinceMs) }),
    ...(untilMs === undefined ? {} : { until: rfc3339(untilMs) }),
    returnWithin: durationText(returnWithinMs),
    isOver,
  }
}

function gatesOf(view: FencingView, nodeName: string, machine: MachineView | undefined): string[] {
  const { leases, nowMs } = view.snapshot
  const lease = leases.get(nodeName)
  const isValid = lease !== undefined && lease.validUntilMs > nowMs
  return [
    ...(isValid
      ? [
          `lease ${medik8sLeaseNamespace}/node-${nodeName} is held by ${lease.holder} until ${rfc3339(lease.validUntilMs)}`,
        ]
      : []),
    ...(machine?.skip === undefined
      ? []
      : [`annotation ${skipAnnotation}, ${machine.skip === 'ours' ? 'set by Cofferdam' : 'not set by Cofferdam'}`]),
    ...(machine?.isHookedByUs === true ? [`pre-terminate hook ${hookName}`] : []),
    ...remediatorsOf(view, nodeName)
      .filter(({ isPausedByUs }) => isPausedByUs)
      .map((check) => `${check.kind}/${check.key} is paused for all nodes that it remediates`),
  ]
}

function remediatorsOf({ snapshot }: FencingView, nodeName: string): RemediatorView[] {
  return snapshot.remediators.filter(({ nodes }) => nodes === undefined || nodes.includes(nodeName))
}

export function remediatorAnswer(check: RemediatorView): RemediatorAnswer {
  const { kind, key, isAlive, isPausedByUs, isPausedByOthers } = check
  return {
    remediator: `${kind}/${key}`,
    listens: isAlive.known,
    ...(isAlive.known ? {} : { why: isAlive.why }),
    ...(isPausedByOthers ? { pausedBy: 'others' } : isPausedByUs ? { pausedBy: 'us' } : {}),
  }
}
