import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { ownedBy } from './build-prepare-job.ts'
import { claimLabels } from './growth-places.ts'
import { adaptOsdDeployment } from './osd-deployment.ts'
import { buildOsdPodSpec } from './osd-pod-spec.ts'

/** An OSD that a prepare Job has made ready on its disk. */
export interface NewOsd {
  readonly id: number
  /** Undefined where it may run anywhere: then it is on a volume of its own. */
  readonly node: string | undefined
  /** By CRUSH type: `{ host: 'node-a', zone: 'zone-x' }`. */
  readonly location: Readonly<Record<string, string>>
  readonly deviceClass?: string
  readonly store?: string
  readonly isEncrypted?: boolean
  /** Its own, which is on its disk too. */
  readonly uuid?: string
  /** The disk or logical volume when it was prepared: `/dev/sdb`. */
  readonly blockPath?: string
  /** How ceph-volume made it: `raw` or `lvm`. */
  readonly mode?: string
  /** The claim of the volume that it is on. */
  readonly pvc?: string
  /** The device set of that claim. */
  readonly set?: string
  /** The label that a node must have for that volume: `topology.kubernetes.io/zone=z1`. */
  readonly topology?: string
}

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
    'failure-domain': osd.pvc ?? osd.location['host'] ?? osd.node ?? '',
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
