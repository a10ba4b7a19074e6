import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

/** Whether the budget is one of those that are put up and taken down while a failure domain of a Ceph cluster is away. */
export function isExchangedBudget({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  const { name, ownerReferences = [] } = metadata
  return name.startsWith('rook-ceph-osd') && ownerReferences.some(({ kind }) => kind === 'CephCluster')
}
