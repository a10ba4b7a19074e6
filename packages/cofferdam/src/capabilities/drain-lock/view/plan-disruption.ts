import type { PodReference } from '../../../shared/object-references.ts'
import { claimsFor } from '../domain/claims.ts'
import { decideDisruption } from '../domain/decide.ts'
import { type PodPlan, planPods } from '../domain/plan-pods.ts'
import type { DisruptionSnapshot, PodFacts } from '../domain/snapshot.ts'
import type { DisruptionObstacle } from './explain-disruption.ts'

/** What would become of a node if it were asked for now. */
export interface DisruptionPlan {
  readonly node: string
  readonly intent: 'Reboot' | 'Remove' | 'Replace'
  /** Whether it could begin at once. */
  readonly mayBegin: boolean
  /** A reason of docs/reference/reasons.md. */
  readonly reason: string
  readonly explanation: string
  /** `shop/orders-0` */
  readonly stays: readonly string[]
  readonly leaves: readonly string[]
  /** Terminating already. */
  readonly leaving: readonly string[]
  /** What has to be held: `node/worker-a1`, `pdb/shop/orders`, `storage/rook-ceph/rook-ceph`. */
  readonly keys: readonly string[]
  readonly blockedBy: readonly DisruptionObstacle[]
  readonly warnings: readonly { readonly object: string; readonly says: string }[]
}

/** Asks the very decisions that the operator asks, and does nothing. */
export function planDisruption(snapshot: DisruptionSnapshot): DisruptionPlan {
  const { request, node, storage } = snapshot
  const { reason, explanation, blockedBy, warnings } = decideDisruption(snapshot)
  const plan = podPlanOf(snapshot)
  const limits = snapshot.limits.known ? snapshot.limits.value : []
  const names = (pods: readonly PodReference[]) => pods.map(({ namespace, name }) => `${namespace}/${name}`)
  return {
    node: request.nodeName,
    intent: request.intent,
    mayBegin: blockedBy.length === 0 && node !== undefined,
    reason,
    explanation,
    stays: names(plan.stays),
    leaves: names(plan.leaves),
    leaving: names(plan.going),
    keys: node === undefined ? [] : [...claimsFor(node, storage, plan.locks), ...limits].map(({ key }) => key),
    blockedBy,
    warnings,
  }
}

export interface PlannedPods extends PodPlan {
  /** Of the pods that leave, those of each budget by its uid. */
  readonly leavesOf: ReadonlyMap<string, readonly PodFacts[]>
}

/** Several answers about one snapshot rest on it: whoever asks for more than one hands it to each. */
export function podPlanOf(snapshot: DisruptionSnapshot): PlannedPods {
  const { hasFallenBack, phase, skippedPods } = snapshot.request.record
  const hasBegun = phase === 'Draining' || phase === 'Drained' || phase === 'Recovering'
  const { stays, leaves, going, locks, warnings } = planPods({
    seen: snapshot,
    hasFallenBack,
    bound: hasBegun ? skippedPods : undefined,
    isPatienceOver: false,
  })
  return { stays, leaves, going, locks, warnings, leavesOf: byBudget(leaves) }
}

function byBudget(pods: readonly PodFacts[]): ReadonlyMap<string, readonly PodFacts[]> {
  const found = new Map<string, PodFacts[]>()
  for (const pod of pods) {
    for (const uid of pod.budgetUids) {
      const those = found.get(uid)
      if (those === undefined) found.set(uid, [pod])
      else those.push(pod)
    }
  }
  return found
}
