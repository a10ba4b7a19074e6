import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'

export const racks = ['rack-x', 'rack-y', 'rack-z'] as const

/** Racks all of whose OSDs are covered by budgets of this kind, and racks none of whose OSDs are. */
export function heldRacks(views: Views, holds: (budget: PodDisruptionBudget) => boolean) {
  const holding = [...views.of(podDisruptionBudgets).values()].filter(holds)
  const isHeld = (pod: Pod) =>
    holding.some(({ spec: { selector } }) => selector !== undefined && isSelected(selector, pod.metadata.labels))
  const osdsIn = (rack: string) =>
    [...views.of(pods).values()].filter(
      ({ metadata: { labels } }) => labels?.['app'] === 'rook-ceph-osd' && labels['topology-location-rack'] === rack,
    )
  return {
    closed: racks.filter((rack) => osdsIn(rack).every(isHeld)),
    open: racks.filter((rack) => !osdsIn(rack).some(isHeld)),
  }
}

/** Never lets anything go, whoever is down. */
export const isBlocking = ({ spec }: PodDisruptionBudget) => spec.maxUnavailable === 0

/** Lets nothing go at this moment. */
export const isUsedUp = (budget: PodDisruptionBudget) =>
  isBlocking(budget) || (budget.status?.disruptionsAllowed ?? 0) === 0
