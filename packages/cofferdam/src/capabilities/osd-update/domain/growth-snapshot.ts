import type { Deployment, Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap, Node } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PersistentVolumeClaim } from '@cofferdam/kubernetes/api/storage.ts'
import { decideOwnership, ownershipAnnotations } from '../../../safety/ceph-ownership.ts'
import { type CephTrust, growthImage, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import type { GrowthSnapshot } from './decide-growth.ts'
import { claimLabels, growthPlaces } from './growth-places.ts'
import type { PrepareJob } from './prepare-job.ts'
import { generationAnnotation, nonceAnnotation, parsePrepareStatus, placeAnnotation } from './prepare-status.ts'

export const prepareApp = 'rook-ceph-osd-prepare'

/** Every OSD that a Ceph knows, and the UUID that is on its disk. */
export interface OsdUuids {
  readonly fsid: string
  readonly uuids: ReadonlyMap<number, string>
}

export interface GrowthObjects {
  readonly cluster: CephCluster
  readonly nodes: readonly Node[]
  readonly jobs: readonly Job[]
  readonly configMaps: readonly ConfigMap[]
  readonly deployments: readonly Deployment[]
  /** Claims of its device sets. */
  readonly claims?: readonly PersistentVolumeClaim[]
  readonly ceph?: GrowthSnapshot['ceph']
}

/** What is seen of one cluster's growth; what belongs to other namespaces and other programs is passed over. */
export function growthSnapshotOf(objects: GrowthObjects): GrowthSnapshot {
  const { cluster, nodes, claims = [] } = objects
  const { namespace, generation = 0, deletionTimestamp } = cluster.metadata
  const isOwn = ({ metadata }: { readonly metadata: { readonly namespace?: string } }) =>
    metadata.namespace === namespace
  const deployments = objects.deployments.filter(
    (deployment) => isOwn(deployment) && deployment.metadata.labels?.['app'] === 'rook-ceph-osd',
  )
  const statuses = objects.configMaps.filter(isOwn).flatMap((configMap) => parsePrepareStatus(configMap) ?? [])
  const inspected = statuses.map((one) => ('status' in one ? one.status : one))
  return {
    generation,
    isBeingDeleted: deletionTimestamp !== undefined,
    places: growthPlaces({ cluster, nodes, claims, deployments, inspected }),
    jobs: objects.jobs
      .filter((job) => isOwn(job) && job.metadata.labels?.['app'] === prepareApp)
      .map((job) => prepareJobOf(job, cluster)),
    statuses,
    existing: new Set(deployments.flatMap(osdIdOf)),
    ...(objects.ceph !== undefined && { ceph: objects.ceph }),
  }
}

export type GrowthMode =
  | { readonly isOn: true; readonly rookImage: string }
  | { readonly isOn: false; readonly explanation: string }

/** Whether OSDs are added to this cluster here, as the administrator of the operator says, and if not why. */
export function growthMode(
  cluster: CephCluster,
  { trust, rookRuns }: { readonly trust: CephTrust; readonly rookRuns: boolean },
): GrowthMode {
  const rookImage = growthImage(trust, nameOf(cluster))
  if (cluster.spec?.external?.enable === true) return { isOn: false, explanation: 'its OSDs run elsewhere' }
  if (rookImage === undefined) return { isOn: false, explanation: '--grow-osds of the operator does not name it' }
  const { updates } = decideOwnership({ cluster, trust, rookRuns: false })
  if (updates !== 'own') {
    return {
      isOn: false,
      explanation: `${ownershipAnnotations.updates} is ${updates}, and OSDs are added only with own`,
    }
  }
  if (rookRuns) return { isOn: false, explanation: "Rook's own operator runs, and adds OSDs here" }
  return { isOn: true, rookImage }
}

function prepareJobOf(job: Job, cluster: CephCluster): PrepareJob {
  const { name, labels = {}, annotations = {} } = job.metadata
  const node = job.spec.template.spec.nodeSelector?.['kubernetes.io/hostname']
  return {
    name,
    place: labels[claimLabels.claim] ?? annotations[placeAnnotation] ?? node ?? name.slice(prepareApp.length + 1),
    asked: annotations[generationAnnotation],
    state: isTrue(job, 'Complete') ? 'succeeded' : isTrue(job, 'Failed') ? 'failed' : 'active',
    isOurs: controllerOf(job)?.uid === cluster.metadata.uid,
    nonce: annotations[nonceAnnotation],
  }
}

function isTrue(job: Job, type: string): boolean {
  return conditionOf(job, type)?.status === 'True'
}

function osdIdOf({ metadata }: Deployment): number[] {
  const text =
    metadata.labels?.['ceph-osd-id'] ?? metadata.labels?.['osd'] ?? /^rook-ceph-osd-(\d+)$/.exec(metadata.name)?.[1]
  return text !== undefined && /^\d{1,9}$/.test(text) ? [Number(text)] : []
}
