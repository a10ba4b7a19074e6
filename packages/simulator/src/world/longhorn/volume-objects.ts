import type {
  LonghornEngine,
  LonghornReplica,
  LonghornVolume,
  LonghornVolumeAttachment,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { controllerReference } from '../workloads/owned-pods.ts'
import { longhornFinalizers } from './finalizer.ts'
import { gibibyte, imageSettingOf, type VolumeDescription } from './longhorn-description.ts'

const apiVersion = 'longhorn.io/v1beta2'

export function engineName(volume: string): string {
  return `${volume}-e-0`
}

export function buildVolume(
  description: VolumeDescription,
  { namespace, settings }: { readonly namespace: string; readonly settings: Readonly<Record<string, string | null>> },
): LonghornVolume {
  const {
    name,
    sizeBytes = gibibyte,
    filled: _filled,
    labels,
    placedOn: _placedOn,
    claim: _claim,
    ...spec
  } = description
  return {
    apiVersion,
    kind: 'Volume',
    metadata: { name, namespace, ...(labels === undefined ? {} : { labels }), finalizers: longhornFinalizers },
    spec: {
      size: String(sizeBytes),
      numberOfReplicas: 3,
      dataLocality: 'disabled',
      dataEngine: 'v1',
      nodeID: '',
      migrationNodeID: '',
      image: settings[imageSettingOf(spec.dataEngine)] ?? '',
      replicaSoftAntiAffinity: 'ignored',
      replicaZoneSoftAntiAffinity: 'ignored',
      replicaDiskSoftAntiAffinity: 'ignored',
      ...spec,
    },
  }
}

export function buildEngine(volume: LonghornVolume): LonghornEngine {
  const { name } = volume.metadata
  return {
    apiVersion,
    kind: 'Engine',
    metadata: ownedBy(volume, engineName(name)),
    spec: {
      volumeName: name,
      volumeSize: volume.spec?.size ?? '0',
      dataEngine: volume.spec?.dataEngine ?? 'v1',
      nodeID: '',
      desireState: 'stopped',
      active: true,
      image: imageOf(volume),
    },
  }
}

export function buildAttachment(volume: LonghornVolume): LonghornVolumeAttachment {
  const { name } = volume.metadata
  return {
    apiVersion,
    kind: 'VolumeAttachment',
    metadata: ownedBy(volume, name),
    spec: { volume: name, attachmentTickets: {} },
  }
}

export function buildReplica(
  volume: LonghornVolume,
  place: {
    readonly name: string
    readonly node: string
    readonly diskUuid: string
    readonly retryCount: number
    readonly hardNode?: string | undefined
    /** When it was healthy before it was made here; '' for an empty one. */
    readonly healthyAt: string
  },
): LonghornReplica {
  const volumeName = volume.metadata.name
  const { name, node, diskUuid, retryCount, hardNode = '', healthyAt } = place
  return {
    apiVersion,
    kind: 'Replica',
    metadata: {
      ...ownedBy(volume, name),
      labels: { longhornvolume: volumeName, longhornnode: node, longhorndiskuuid: diskUuid },
    },
    spec: {
      volumeName,
      nodeID: node,
      diskID: diskUuid,
      engineName: engineName(volumeName),
      active: true,
      image: imageOf(volume),
      dataDirectoryName: `${volumeName}-${name.slice(-8)}`,
      evictionRequested: false,
      hardNodeAffinity: hardNode,
      desireState: 'stopped',
      healthyAt,
      failedAt: '',
      lastHealthyAt: healthyAt,
      lastFailedAt: '',
      rebuildRetryCount: retryCount,
      dataEngine: volume.spec?.dataEngine ?? 'v1',
      volumeSize: volume.spec?.size ?? '0',
    },
  }
}

/**
 * The double of a replica for another engine image, as Longhorn makes it: the same place, the same data directory, the same
 * claim to be healthy, but inactive.
 */
export function buildReplicaClone(
  volume: LonghornVolume,
  { metadata, spec }: LonghornReplica,
  { name, image }: { readonly name: string; readonly image: string },
): LonghornReplica {
  const { labels } = metadata
  return {
    apiVersion,
    kind: 'Replica',
    metadata: { ...ownedBy(volume, name), ...(labels === undefined ? {} : { labels }) },
    spec: { ...spec, image, active: false, desireState: 'running', failedAt: '', lastFailedAt: '' },
  }
}

function imageOf({ spec, status }: LonghornVolume): string {
  return status?.currentImage ?? spec?.image ?? ''
}

function ownedBy(volume: LonghornVolume, name: string): LonghornReplica['metadata'] {
  const { namespace, name: volumeName } = volume.metadata
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { longhornvolume: volumeName },
    finalizers: longhornFinalizers,
    ownerReferences: [controllerReference(volume, longhornVolumes)],
  }
}
