import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { ownedBy } from './build-prepare-job.ts'
import { claimLabels } from './growth-places.ts'
import { type NewOsd, preparedPlace } from './new-osd.ts'
import { adaptOsdDeployment } from './osd-deployment.ts'
import { buildOsdPodSpec } from './osd-pod-spec.ts'

/** The Deployment of an OSD that has none yet, with the names, labels and place that Rook gives it. */
export function buildOsdDeployment(cluster: CephCluster, osd: NewOsd): Deployment {
  const { name, namespace = '' } = cluster.metadata
  const id = String(osd.id)
  const selector = { app: 'rook-ceph-osd', rook_cluster: namespace, 'ceph-osd-id': id }
  const labels = {
    ...selector,
    ceph_daemon_id: id,
    ceph_daemon_type: 'osd',
    osd: id,
    'app.kubernetes.io/name': 'ceph-osd',
    'app.kubernetes.io/instance': id,
    'app.kubernetes.io/component': 'cephclusters.ceph.rook.io',
    'app.kubernetes.io/part-of': name,
    'app.kubernetes.io/managed-by': 'rook-ceph-operator',
    'app.kubernetes.io/created-by': 'rook-ceph-operator',
    'rook.io/operator-namespace': namespace,
    'failure-domain': osd.pvc ?? osd.location['host'] ?? preparedPlace(osd),
    portable: String(osd.node === undefined),
    ...(osd.deviceClass !== undefined && { 'device-class': osd.deviceClass }),
    'osd-store': osd.store ?? 'bluestore',
    encrypted: String(osd.isEncrypted ?? false),
    ...(osd.pvc !== undefined && { [claimLabels.claim]: osd.pvc }),
    ...(osd.set !== undefined && { [claimLabels.set]: osd.set }),
    ...Object.fromEntries(
      Object.entries(osd.location).map(([type, place]) => [`topology-location-${type}`, place.replaceAll('.', '-')]),
    ),
  }
  const built: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: osdDeploymentName(osd.id),
      namespace,
      labels,
      ownerReferences: [ownedBy(cluster)],
    },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selector },
      template: { metadata: { labels }, spec: buildOsdPodSpec(cluster, osd) },
    },
  }
  return adaptOsdDeployment(built, cluster)
}

export function osdDeploymentName(id: number): string {
  return `rook-ceph-osd-${id}`
}
