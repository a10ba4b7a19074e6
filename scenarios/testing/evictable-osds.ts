import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'

/** OSDs whose eviction the API server would take now: ready pods under no budget, or under one that allows it. */
export function evictableOsds(views: Views): number[] {
  const budgets = [...views.of(podDisruptionBudgets).values()]
  return [...views.of(pods).values()]
    .filter((pod) => pod.metadata.labels?.['app'] === 'rook-ceph-osd' && isActive(pod) && isReady(pod))
    .filter(({ metadata }) => {
      const own = budgets.filter(
        ({ metadata: { namespace }, spec }) =>
          namespace === metadata.namespace && spec.selector !== undefined && isSelected(spec.selector, metadata.labels),
      )
      return own.length === 0 || (own.length === 1 && own.every(allowsOne))
    })
    .map(({ metadata }) => Number(metadata.labels?.['osd']))
    .sort((a, b) => a - b)
}

/** One that was changed allows nothing until its pods are counted anew. */
function allowsOne({ metadata, status }: PodDisruptionBudget): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && (status?.disruptionsAllowed ?? 0) > 0
}
