import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

/** Of a budget of Cofferdam over an instance manager of Longhorn, before the name of that. */
export const holdPrefix = 'cofferdam-hold-'

/**
 * Whether the budget is one of those that are put up and taken down while another one covers the same pod: for a failure domain of a
 * Ceph cluster that is away, or beside the budget of Longhorn.
 */
export function isExchangedBudget({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  const { name, ownerReferences = [] } = metadata
  if (name.startsWith(holdPrefix)) return true
  return name.startsWith('rook-ceph-osd') && ownerReferences.some(({ kind }) => kind === 'CephCluster')
}
