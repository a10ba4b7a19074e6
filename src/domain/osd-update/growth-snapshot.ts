import type { Deployment, Job } from '../../api/apps.ts'
import type { ConfigMap, Node } from '../../api/core.ts'
import { conditionOf } from '../../api/kube-object.ts'
import type { CephCluster } from '../../api/rook.ts'
import type { PersistentVolumeClaim } from '../../api/storage.ts'
import type { GrowthSnapshot, PrepareJob } from './decide-growth.ts'
import { claimLabels, growthPlaces } from './growth-places.ts'
import { generationAnnotation, parsePrepareStatus, placeAnnotation } from './prepare-status.ts'

/** On the CephCluster: the image that has Rook's own program, which prepares disks. Without it no OSD is added. */
export const rookImageAnnotation = 'cofferdam.io/rook-image'

export const prepareApp = 'rook-ceph-osd-prepare'

export interface GrowthObjects {
  readonly cluster: CephCluster
  readonly nodes: readonly Node[]
  readonly jobs: readonly Job[]
  readonly configMaps: readonly ConfigMap[]
  readonly deployments: readonly Deployment[]
  /** Of its device sets. */
  readonly claims?: readonly PersistentVolumeClaim[]
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
  const looked = statuses.map((one) => ('status' in one ? one.status : one))
  return {
    generation,
    isBeingDeleted: deletionTimestamp !== undefined,
    places: growthPlaces({ cluster, nodes, claims, deployments, looked }),
    jobs: objects.jobs.filter((job) => isOwn(job) && job.metadata.labels?.['app'] === prepareApp).map(prepareJobOf),
    statuses,
    existing: new Set(deployments.flatMap(osdIdOf)),
  }
}

export type GrowthMode =
  | { readonly isOn: true; readonly rookImage: string }
  | { readonly isOn: false; readonly explanation: string }

/** Whether OSDs are added to this cluster here, and if not why. */
export function growthMode(cluster: CephCluster, { besideRook }: { readonly besideRook: boolean }): GrowthMode {
  const rookImage = rookImageOf(cluster)
  if (cluster.spec?.external?.enable === true) return { isOn: false, explanation: 'its OSDs run elsewhere' }
  if (besideRook) return { isOn: false, explanation: "Rook's own operator adds OSDs here" }
  if (rookImage === undefined) {
    return { isOn: false, explanation: `its annotation ${rookImageAnnotation} names no image that has Rook's program` }
  }
  return { isOn: true, rookImage }
}

/** The image to take Rook's program from; undefined where none is named. */
export function rookImageOf({ metadata }: CephCluster): string | undefined {
  const image = metadata.annotations?.[rookImageAnnotation]?.trim()
  return image === '' ? undefined : image
}

function prepareJobOf(job: Job): PrepareJob {
  const { name, labels = {}, annotations = {} } = job.metadata
  const node = job.spec.template.spec.nodeSelector?.['kubernetes.io/hostname']
  return {
    name,
    place: labels[claimLabels.claim] ?? annotations[placeAnnotation] ?? node ?? name.slice(prepareApp.length + 1),
    asked: annotations[generationAnnotation],
    state: isTrue(job, 'Complete') ? 'succeeded' : isTrue(job, 'Failed') ? 'failed' : 'active',
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
