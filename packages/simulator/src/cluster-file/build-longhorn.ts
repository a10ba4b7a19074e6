import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { PersistentVolumeClaim } from '@cofferdam/kubernetes/api/storage.ts'
import { firstSettings, type LonghornDescription } from '../world/longhorn/longhorn-description.ts'
import type { Mounts } from './build-workloads.ts'
import { drainPolicyLabel, drainPolicyParameter, longhornAnnotations } from './cofferdam-words.ts'
import type { LonghornClusterDescription, LonghornVolumePlan } from './describe-longhorn.ts'
import type { VolumeClaim } from './longhorn-claims.ts'
import { defaultStorageClass } from './longhorn-schema.ts'
import { exactSize } from './size-text.ts'

const storageType = { group: '', version: 'v1', namespaced: false }
export const persistentVolumes: ResourceType = { ...storageType, plural: 'persistentvolumes', kind: 'PersistentVolume' }
export const storageClasses: ResourceType = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
}

const driver = 'driver.longhorn.io'
export const accessModes = ['ReadWriteOnce']

/** What the simulation is made from. */
export function buildLonghornDescription(longhorn: LonghornClusterDescription): LonghornDescription {
  const { namespace, nodes, disks, settings, pace } = longhorn
  return {
    namespace,
    nodes: Object.fromEntries(nodes.map((name) => [name, {}])),
    disks: Array.from({ length: disks.perNode }, (_, index) => ({
      name: index === 0 ? 'default-disk' : `disk-${index + 1}`,
      maximumBytes: disks.size,
    })),
    settings,
    volumes: longhorn.volumes.map((volume) => ({
      name: volume.name,
      sizeBytes: volume.size,
      filled: volume.filled,
      numberOfReplicas: volume.replicas,
      dataLocality: volume.dataLocality,
      ...(volume.policy === undefined ? {} : { labels: { [drainPolicyLabel]: volume.policy } }),
      ...(volume.placedOn.length === 0 ? {} : { placedOn: volume.placedOn }),
      ...(volume.claim === undefined ? {} : { claim: { namespace: volume.claim.namespace, name: volume.claim.name } }),
    })),
    timings: { rebuildBytesPerSecond: pace.rebuildPerSecond },
    ownDrainHandling: true,
  }
}

export function buildSettings(longhorn: LonghornClusterDescription): LonghornSetting[] {
  return Object.entries(firstSettings(longhorn)).map(([name, value]) => ({
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Setting',
    metadata: {
      name,
      namespace: longhorn.namespace,
      ...(name === 'node-drain-policy' ? { annotations: drainAnnotations(longhorn) } : {}),
    },
    value: value ?? '',
  }))
}

function drainAnnotations(longhorn: LonghornClusterDescription): Record<string, string> {
  const { manage, wantedPolicy, rebootPolicy, trigger, surplus } = longhorn
  return {
    [longhornAnnotations.manage]: manage,
    ...(wantedPolicy === undefined ? {} : { [longhornAnnotations.wantedPolicy]: wantedPolicy }),
    ...(rebootPolicy === undefined ? {} : { [longhornAnnotations.rebootPolicy]: rebootPolicy }),
    ...(trigger === 'cordon' ? {} : { [longhornAnnotations.trigger]: trigger }),
    ...(surplus === 'keep' ? {} : { [longhornAnnotations.surplus]: surplus }),
  }
}

export function buildStorageClasses({ storageClasses: written }: LonghornClusterDescription): KubeObject[] {
  const named = written.some(({ name }) => name === defaultStorageClass)
  const classes = named ? written : [{ name: defaultStorageClass, policy: undefined }, ...written]
  return classes.map(({ name, policy }) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: driver,
    ...(policy === undefined ? {} : { parameters: { [drainPolicyParameter]: policy } }),
  }))
}

/** A volume that a workload uses, or that is of a class, is a PersistentVolume too. */
export function buildPersistentVolume(volume: LonghornVolumePlan): KubeObject | undefined {
  const { name, claim, storageClass } = volume
  if (claim === undefined && storageClass === undefined) return undefined
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: exactSize(volume.size) },
      accessModes,
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: storageClass ?? defaultStorageClass,
      csi: { driver, volumeHandle: name },
      ...(claim === undefined
        ? {}
        : { claimRef: { kind: 'PersistentVolumeClaim', namespace: claim.namespace, name: claim.name } }),
    },
  } as KubeObject
}

export function buildClaim(volume: LonghornVolumePlan & { readonly claim: VolumeClaim }): PersistentVolumeClaim {
  const { claim, size, storageClass = defaultStorageClass } = volume
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: claim.name, namespace: claim.namespace, labels: { app: claim.app } },
    spec: { ...claimSpec(size, storageClass), volumeName: volume.name },
  }
}

/** What a workload needs in order to mount its volumes, by `namespace/name`. */
export function buildMounts({ volumes }: LonghornClusterDescription): ReadonlyMap<string, Mounts> {
  const mounts = new Map<string, Mounts>()
  for (const { claim, size, storageClass = defaultStorageClass } of volumes) {
    if (claim === undefined) continue
    const key = `${claim.namespace}/${claim.app}`
    const { volumes: held = [], templates = [] } = mounts.get(key) ?? {}
    if (claim.ordinal === undefined) {
      const mounted = { name: claim.mount, persistentVolumeClaim: { claimName: claim.name } }
      mounts.set(key, { volumes: [...held, mounted], templates })
    } else if (!templates.some(({ metadata }) => metadata.name === claim.mount)) {
      const template = { metadata: { name: claim.mount }, spec: claimSpec(size, storageClass) }
      mounts.set(key, { volumes: held, templates: [...templates, template] })
    }
  }
  return mounts
}

function claimSpec(size: number, storageClassName: string) {
  return { accessModes, resources: { requests: { storage: exactSize(size) } }, storageClassName }
}
