import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isOutsideBudgets } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { guardVerdict } from '../capabilities/drain-lock/view/hold-refusal.ts'
import type { Blocker } from '../shared/blocker.ts'
import { failureDomainsOf, type PlacedPod } from '../shared/pod-failure-domains.ts'
import type { GuardSnapshot } from './snapshot.ts'

/**
 * What keeps an OSD, or a mon or mgr beside OSDs, while another failure domain of its storage is held in the ledger: the eviction guard
 * refuses it, whatever its budget allows. Budgets know nothing of it where Rook keeps them.
 */
export function elsewhereBlockers({ pods, holds }: Pick<GuardSnapshot, 'pods' | 'holds'>) {
  return (pod: Pod, budgets: readonly PodDisruptionBudget[]): Blocker | undefined => {
    // Nothing but the guard refuses it.
    if (holds === undefined || holds.hasGuard === false) return undefined
    const placed = placeOf(pod)
    const failureDomains = failureDomainsOf(placed, (nodeName) =>
      pods.filter(({ spec }) => spec.nodeName === nodeName).map(placeOf),
    )
    if (failureDomains === undefined) return undefined
    const { name, uid = '' } = pod.metadata
    const isCounted = !isOutsideBudgets(pod)
    const verdict = guardVerdict({ ...placed, name, uid, isCounted, failureDomains }, budgets, holds)
    if (verdict.allowed || verdict.reason !== 'OtherDomainDown') return undefined
    const { cause, reason, why, ends, holder, since } = verdict
    return {
      object: cause,
      reason,
      explanation: why,
      holder,
      ...(since === undefined ? {} : { since }),
      causes: [],
      unblocks: ends,
      override: `kubectl -n ${placed.namespace} delete pod ${name} bypasses the eviction guard; data may become unavailable, or be lost with the next failure`,
      waiting: [`pod/${placed.namespace}/${name}`],
    }
  }
}

function placeOf({ metadata, spec }: Pod): PlacedPod {
  const { namespace = '', labels = {}, deletionTimestamp } = metadata
  return { namespace, labels, nodeName: spec.nodeName ?? '', isLeaving: deletionTimestamp !== undefined }
}
