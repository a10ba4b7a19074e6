import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { holdPrefix } from './exchanged-budget.ts'

/** Whether the budget may be one that follows the health of Ceph or Longhorn, by its name and selector. */
export function mayFollowStorage({ metadata, spec }: Pick<PodDisruptionBudget, 'metadata' | 'spec'>): boolean {
  const { name } = metadata
  if (name.startsWith('rook-ceph-') || name.startsWith(holdPrefix)) return true
  return spec.selector?.matchLabels?.['longhorn.io/component'] === 'instance-manager'
}
