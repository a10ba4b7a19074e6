import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

/** On every budget that we manage: Rook's have the same names, shapes and owners. */
export const managedLabels: Readonly<Record<string, string>> = { 'app.kubernetes.io/managed-by': 'cofferdam' }

/** Whether we made it or took it over. Only then may it be released or removed: anything else is somebody else's. */
export function isManagedByUs({ metadata }: Pick<PodDisruptionBudget, 'metadata'>): boolean {
  return Object.entries(managedLabels).every(([key, value]) => metadata.labels?.[key] === value)
}

/** The same budget without our mark: from then on it is Rook's. */
export function withoutMark(budget: PodDisruptionBudget): PodDisruptionBudget {
  const { labels = {}, ...metadata } = budget.metadata
  const left = Object.entries(labels).filter(([key]) => !Object.hasOwn(managedLabels, key))
  return { ...budget, metadata: { ...metadata, ...(left.length > 0 && { labels: Object.fromEntries(left) }) } }
}
