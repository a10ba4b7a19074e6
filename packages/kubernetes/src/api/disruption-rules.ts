import type { Pod } from './core.ts'
import { conditionOf } from './kube-object.ts'
import { isSelected } from './label-selector.ts'
import type { PodDisruptionBudget } from './policy.ts'

/** More grants than this that no disruption controller has confirmed, and the budget is taken as unattended. */
const maxDisruptedPods = 2000

/** Why the eviction API takes no disruption from a budget, in the words of the API server. */
export interface BudgetRefusal {
  readonly kind: 'not-counted' | 'nonsense' | 'unattended' | 'used-up'
  readonly message: string
}

/** Budgets of the pod's namespace that cover it. An empty selector covers every pod, an absent one none. */
export function budgetsOf(pod: Pod, budgets: readonly PodDisruptionBudget[]): readonly PodDisruptionBudget[] {
  return budgets.filter((budget) => covers(budget, pod))
}

export function covers({ spec, metadata }: PodDisruptionBudget, pod: Pod): boolean {
  const selector = spec.selector ?? undefined
  return (
    selector !== undefined && metadata.namespace === pod.metadata.namespace && isSelected(selector, pod.metadata.labels)
  )
}

/** Whether no budget is asked about the pod in its present state: it has not started, has finished, or is leaving. */
export function isOutsideBudgets({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp !== undefined ||
    status?.phase === 'Pending' ||
    status?.phase === 'Succeeded' ||
    status?.phase === 'Failed'
  )
}

/** Whether an unready pod may go without being counted: by policy, or because the healthy ones suffice without it. */
export function mayEvictUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

/**
 * Why no disruption can be taken from the budget now; undefined when one can.
 *
 * Fails closed: a status that does not yet answer for the present spec allows nothing.
 */
export function refusalOf(budget: PodDisruptionBudget): BudgetRefusal | undefined {
  const { name, generation = 0 } = budget.metadata
  const { disruptionsAllowed = 0, disruptedPods = {}, observedGeneration = 0 } = budget.status ?? {}
  if (observedGeneration < generation) return { kind: 'not-counted', message: stillProcessed(name) }
  if (disruptionsAllowed < 0) return { kind: 'nonsense', message: 'pdb disruptions allowed is negative' }
  if (Object.keys(disruptedPods).length > maxDisruptedPods) {
    const message = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'
    return { kind: 'unattended', message }
  }
  return disruptionsAllowed === 0 ? { kind: 'used-up', message: reasonForNone(budget) } : undefined
}

export function stillProcessed(name: string): string {
  return `The disruption budget ${name} is still being processed by the server.`
}

function reasonForNone(budget: PodDisruptionBudget): string {
  const { name } = budget.metadata
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
  const condition = conditionOf(budget, 'DisruptionAllowed')
  const explained = condition?.status === 'False' && condition.message ? condition.message : undefined
  // The counts of a budget that could not be computed mean nothing, so its failure is reported first.
  if (explained !== undefined && condition?.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${explained}`
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  }
  if (explained !== undefined) {
    return `The disruption budget ${name} does not allow evicting pods currently (${condition?.reason ?? ''}): ${explained}`
  }
  return `The disruption budget ${name} does not allow evicting pods currently`
}
