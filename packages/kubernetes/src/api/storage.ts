import type { KubeObject } from './kube-object.ts'
import type { ResourceType } from './resource-type.ts'

/** Storage kinds with only the fields that are read here. */
export interface StorageClass extends KubeObject {
  readonly parameters?: Readonly<Record<string, string>>
}

export interface PersistentVolume extends KubeObject {
  readonly spec?: {
    readonly storageClassName?: string
    readonly claimRef?: { readonly namespace?: string; readonly name?: string }
    readonly csi?: { readonly driver?: string; readonly volumeHandle?: string }
  }
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: { readonly volumeName?: string; readonly volumeMode?: string }
}

export const storageClasses: ResourceType<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
}

export const persistentVolumes: ResourceType<PersistentVolume> = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
}

export const persistentVolumeClaims: ResourceType<PersistentVolumeClaim> = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
}
