import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { ageColumn, booleanColumn, column, integerColumn, nameColumn, wideColumn } from './column.ts'

interface VolumeSpec {
  readonly accessModes?: readonly string[]
  readonly storageClassName?: string
  readonly volumeAttributesClassName?: string
  readonly volumeMode?: string
}

interface PersistentVolume extends KubeObject {
  readonly spec: VolumeSpec & {
    readonly capacity?: Readonly<Record<string, string>>
    readonly persistentVolumeReclaimPolicy?: string
    readonly claimRef?: { readonly namespace?: string; readonly name?: string }
  }
  readonly status?: { readonly phase?: string; readonly reason?: string }
}

interface PersistentVolumeClaim extends KubeObject {
  readonly spec: VolumeSpec & { readonly volumeName?: string }
  readonly status?: {
    readonly phase?: string
    readonly accessModes?: readonly string[]
    readonly capacity?: Readonly<Record<string, string>>
  }
}

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

function modesText(modes: readonly string[] = []): string {
  return Object.entries(shortModes)
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')
}

function phaseText(object: PersistentVolume | PersistentVolumeClaim): string {
  return object.metadata.deletionTimestamp === undefined ? (object.status?.phase ?? '') : 'Terminating'
}

function classText({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string {
  return metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName ?? ''
}

export const persistentVolumeColumns: readonly TableColumn[] = [
  nameColumn,
  column<PersistentVolume>('Capacity', ({ spec }) => spec.capacity?.['storage'] ?? '0'),
  column<PersistentVolume>('Access Modes', ({ spec }) => modesText(spec.accessModes)),
  column<PersistentVolume>('Reclaim Policy', ({ spec }) => spec.persistentVolumeReclaimPolicy ?? ''),
  column<PersistentVolume>('Status', phaseText),
  column<PersistentVolume>('Claim', ({ spec: { claimRef } }) =>
    claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`,
  ),
  column<PersistentVolume>('StorageClass', classText),
  column<PersistentVolume>('VolumeAttributesClass', ({ spec }) => spec.volumeAttributesClassName ?? '<unset>'),
  column<PersistentVolume>('Reason', ({ status }) => status?.reason ?? ''),
  ageColumn,
  wideColumn<PersistentVolume>('VolumeMode', ({ spec }) => spec.volumeMode ?? '<unset>'),
]

export const persistentVolumeClaimColumns: readonly TableColumn[] = [
  nameColumn,
  column<PersistentVolumeClaim>('Status', phaseText),
  column<PersistentVolumeClaim>('Volume', ({ spec }) => spec.volumeName ?? ''),
  column<PersistentVolumeClaim>('Capacity', ({ spec, status }) =>
    spec.volumeName ? (status?.capacity?.['storage'] ?? '0') : '',
  ),
  column<PersistentVolumeClaim>('Access Modes', ({ spec, status }) =>
    spec.volumeName ? modesText(status?.accessModes) : '',
  ),
  column<PersistentVolumeClaim>('StorageClass', classText),
  column<PersistentVolumeClaim>('VolumeAttributesClass', ({ spec }) => spec.volumeAttributesClassName ?? '<unset>'),
  ageColumn,
  wideColumn<PersistentVolumeClaim>('VolumeMode', ({ spec }) => spec.volumeMode ?? '<unset>'),
]

interface StorageClass extends KubeObject {
  readonly provisioner: string
  readonly reclaimPolicy?: string
  readonly volumeBindingMode?: string
  readonly allowVolumeExpansion?: boolean
}

export const storageClassColumns: readonly TableColumn[] = [
  column('Name', storageClassName, { type: 'string', format: 'name' }),
  column<StorageClass>('Provisioner', ({ provisioner }) => provisioner),
  column<StorageClass>('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
  column<StorageClass>('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
  column<StorageClass>('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
  ageColumn,
]

function storageClassName({ metadata: { name, annotations } }: KubeObject): string {
  const isDefault = ['storageclass.kubernetes.io', 'storageclass.beta.kubernetes.io'].some(
    (prefix) => annotations?.[`${prefix}/is-default-class`] === 'true',
  )
  return isDefault ? `${name} (default)` : name
}

interface VolumeAttachment extends KubeObject {
  readonly spec: {
    readonly attacher: string
    readonly nodeName: string
    readonly source: { readonly persistentVolumeName?: string }
  }
  readonly status?: { readonly attached: boolean }
}

export const volumeAttachmentColumns: readonly TableColumn[] = [
  nameColumn,
  column<VolumeAttachment>('Attacher', ({ spec }) => spec.attacher, { type: 'string', format: 'name' }),
  column<VolumeAttachment>('PV', ({ spec }) => spec.source.persistentVolumeName ?? ''),
  column<VolumeAttachment>('Node', ({ spec }) => spec.nodeName),
  booleanColumn<VolumeAttachment>('Attached', ({ status }) => status?.attached ?? false),
  ageColumn,
]

interface CsiNode extends KubeObject {
  readonly spec: { readonly drivers?: readonly unknown[] | null }
}

export const csiNodeColumns: readonly TableColumn[] = [
  nameColumn,
  integerColumn<CsiNode>('Drivers', ({ spec }) => spec.drivers?.length),
  ageColumn,
]

interface CsiDriver extends KubeObject {
  readonly spec: {
    readonly attachRequired?: boolean
    readonly podInfoOnMount?: boolean
    readonly storageCapacity?: boolean
    readonly tokenRequests?: readonly { readonly audience: string }[]
    readonly requiresRepublish?: boolean
    readonly volumeLifecycleModes?: readonly string[]
  }
}

export const csiDriverColumns: readonly TableColumn[] = [
  nameColumn,
  booleanColumn<CsiDriver>('AttachRequired', ({ spec }) => spec.attachRequired ?? true),
  booleanColumn<CsiDriver>('PodInfoOnMount', ({ spec }) => spec.podInfoOnMount ?? false),
  booleanColumn<CsiDriver>('StorageCapacity', ({ spec }) => spec.storageCapacity ?? false),
  column<CsiDriver>('TokenRequests', ({ spec }) =>
    spec.tokenRequests === undefined ? '<unset>' : spec.tokenRequests.map(({ audience }) => audience).join(','),
  ),
  booleanColumn<CsiDriver>('RequiresRepublish', ({ spec }) => spec.requiresRepublish ?? false),
  column<CsiDriver>('Modes', ({ spec }) => spec.volumeLifecycleModes?.join(',') || '<none>'),
  ageColumn,
]
