import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { heldNodes } from '../domain/held-nodes.ts'
import { type PlannedAnswer, plannedAnswer, type RemediatorAnswer, remediatorAnswer } from './fencing-answer.ts'
import type { FencingView } from './fencing-view.ts'

/** Fencing in the whole cluster, as short as it goes. */
export interface FencingSummary {
  readonly clusters: readonly ClusterFencing[]
  readonly underWay: readonly FenceUnderWay[]
  /** Nodes that are taken out for a reboot, and those that did not come back from it. */
  readonly planned: readonly PlannedNode[]
  /** Sick nodes that remediators are kept from because of storage. */
  readonly held: readonly HeldNode[]
  readonly remediators: readonly RemediatorAnswer[]
  readonly problems: readonly { readonly object: string; readonly problem: string }[]
}

export interface ClusterFencing {
  /** `rook-ceph/rook-ceph` */
  readonly cluster: string
  /** How many machines may be taken now; left out where nothing is managed. */
  readonly allowed?: number
  readonly reason: string
  readonly explanation: string
}

export interface FenceUnderWay {
  readonly machine: string
  readonly node: string
  readonly cluster: string
  readonly since: string
}

export interface PlannedNode extends PlannedAnswer {
  readonly node: string
}

export interface HeldNode {
  readonly node: string
  readonly reason: string
  readonly explanation: string
}

/** Undefined where there is nothing to say: no Machines and no NodeHealthChecks, or neither a Ceph cluster nor a reboot. */
export function summarizeFencing({ snapshot, decision }: FencingView): FencingSummary | undefined {
  if (!snapshot.areMachinesServed && !snapshot.areNodeChecksServed) return undefined
  if (decision.clusters.length === 0 && decision.outages.length === 0) return undefined
  return {
    clusters: decision.clusters.map(({ namespace, name, budget, reason, explanation }) => ({
      cluster: `${namespace}/${name}`,
      ...(budget === undefined ? {} : { allowed: budget.status.disruptionsAllowed }),
      reason,
      explanation,
    })),
    underWay: decision.fences
      .filter(({ isOver }) => !isOver)
      .map(({ machine, node, cluster, sinceMs }) => ({
        machine,
        node,
        cluster: `${cluster.namespace}/${cluster.name}`,
        since: rfc3339(sinceMs),
      })),
    planned: decision.outages.map((outage) => ({ node: outage.node, ...plannedAnswer(outage) })),
    held: heldNodes(decision, snapshot).map(({ node, reason, explanation }) => ({ node, reason, explanation })),
    remediators: snapshot.remediators.map(remediatorAnswer),
    problems: decision.problems,
  }
}
