import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

/** On every budget that we manage: Rook's have the same names, shapes and owners. */
export const managedLabels: Readonly<Record<string, string>> = { 'app.kubernetes.io/managed-by': 'cofferdam' }

/** Whether we made it or took it over. Only then may handing back remove it: anything else Rook goes on with. */
export function isManagedByUs({ metadata }: Pick<PodDisruptionBudget, 'metadata'>): boolean {
  return Object.entries(managedLabels).every(([key, value]) => metadata.labels?.[key] === value)
}
