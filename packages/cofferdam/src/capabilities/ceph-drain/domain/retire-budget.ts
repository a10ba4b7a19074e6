import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { defaultBudgetName } from './osd-budgets.ts'

/** On a budget that selects nothing any more: since when. */
export const retiredAtAnnotation = 'cofferdam.io/retired-at'

/** The API server retries an eviction that met a conflict for ten seconds, by the budget's name. */
const retiredForMs = 12_000

/**
 * How a budget that lets pods go is taken away.
 *
 * An eviction that is being retried looks its budget up by name: when that is gone it answers 404, and drainers take any
 * 404 for a pod that has left, and leave it behind. So the budget first selects nothing, which answers 429 to whoever is
 * under way, and goes when nobody can be any more. Only the default budget ever lets a pod go.
 */
export function decideRemoval(budget: PodDisruptionBudget, nowMs: number): 'retire' | 'wait' | 'delete' {
  if (budget.metadata.name !== defaultBudgetName) return 'delete'
  const since = isRetired(budget) ? parseRfc3339(budget.metadata.annotations?.[retiredAtAnnotation] ?? '') : undefined
  if (since === undefined) return 'retire'
  // A time from the future is a clock that was set back: the wait begins anew rather than never to end.
  if (since > nowMs) return 'retire'
  return nowMs - since < retiredForMs ? 'wait' : 'delete'
}

/** When a retired budget may be deleted, from now; undefined for one that is in service. */
export function removalDueInMs(budget: PodDisruptionBudget, nowMs: number): number | undefined {
  if (!isRetired(budget)) return undefined
  const since = parseRfc3339(budget.metadata.annotations?.[retiredAtAnnotation] ?? '') ?? nowMs
  return Math.max(0, since + retiredForMs - nowMs)
}

/** The same budget, selecting nothing: every OSD pod has the label that it asks the absence of. */
export function retireBudget(budget: PodDisruptionBudget, nowMs: number): PodDisruptionBudget {
  const { metadata, spec } = budget
  return {
    ...budget,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [retiredAtAnnotation]: rfc3339(nowMs) } },
    spec: { ...spec, selector: retiredSelector },
  }
}

/** The budget back in service: without the mark, so that its next retirement waits its time again. */
export function withoutRetirement(budget: PodDisruptionBudget): PodDisruptionBudget {
  if (budget.metadata.annotations?.[retiredAtAnnotation] === undefined) return budget
  const { [retiredAtAnnotation]: _, ...annotations } = budget.metadata.annotations
  return { ...budget, metadata: { ...budget.metadata, annotations } }
}

const retiredSelector = {
  matchExpressions: [
    { key: 'app', operator: 'In', values: ['rook-ceph-osd'] },
    { key: 'osd', operator: 'DoesNotExist' },
  ],
} as const

/** Whether the budget exists and selects nothing. */
export function isRetired({ spec }: PodDisruptionBudget): boolean {
  return (
    spec.selector?.matchExpressions?.some(({ key, operator }) => key === 'osd' && operator === 'DoesNotExist') === true
  )
}
