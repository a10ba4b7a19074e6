/** Labels of every metric about a Ceph cluster. Plain `namespace` and `cluster` are labels that scrapers set themselves. */
export const cephLabelNames = ['ceph_namespace', 'ceph_cluster'] as const

export type CephLabels = Readonly<Record<(typeof cephLabelNames)[number], string>>

/** `key`: `namespace/name` of the CephCluster. */
export function cephLabels(key: string): CephLabels {
  const [namespace = '', name = ''] = key.split('/')
  return { ceph_namespace: namespace, ceph_cluster: name }
}
