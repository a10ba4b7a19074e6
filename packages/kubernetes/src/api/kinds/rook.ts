import type { Container, PodSpec, Toleration } from '../core.ts'
import type { JsonObject } from '../json.ts'
import type { KubeObject } from '../kube-object.ts'
import type { ResourceType } from '../resource-type.ts'

export interface Placement extends NonNullable<PodSpec['affinity']> {
  readonly tolerations?: readonly Toleration[]
  readonly topologySpreadConstraints?: NonNullable<PodSpec['topologySpreadConstraints']>
}

/** Which disks of a machine OSDs are made of. */
export interface DeviceSelection {
  readonly useAllDevices?: boolean
  readonly deviceFilter?: string
  readonly devicePathFilter?: string
  readonly devices?: readonly {
    readonly name?: string
    readonly fullpath?: string
    readonly config?: Readonly<Record<string, string>>
  }[]
  /** `deviceClass`, `osdsPerDevice`, `metadataDevice` ... */
  readonly config?: Readonly<Record<string, string>>
}

export interface StorageNode extends DeviceSelection {
  /** As the label `kubernetes.io/hostname` has it. */
  readonly name: string
  readonly resources?: NonNullable<Container['resources']>
}

/** OSDs on volumes instead of disks. */
export interface StorageClassDeviceSet {
  readonly name: string
  readonly count: number
  /** Whether its OSDs may move from node to node. */
  readonly portable?: boolean
  readonly encrypted?: boolean
  readonly resources?: NonNullable<Container['resources']>
  readonly placement?: Placement
  readonly preparePlacement?: Placement
  readonly volumeClaimTemplates?: readonly {
    readonly metadata?: {
      readonly name?: string
      readonly labels?: Readonly<Record<string, string>>
      readonly annotations?: Readonly<Record<string, string>>
    }
    readonly spec?: JsonObject
  }[]
}

/** Rook's kinds with only the fields that are read here. */
export interface CephCluster extends KubeObject {
  readonly spec?: {
    readonly disruptionManagement?: {
      readonly managePodBudgets?: boolean
      /** Minutes. */
      readonly osdMaintenanceTimeout?: number
      readonly pgHealthyRegex?: string
      /** Without effect since Rook 1.17. */
      readonly pgHealthCheckTimeout?: number
      /** Without effect since Rook 1.11. */
      readonly manageMachineDisruptionBudgets?: boolean
      /** Without effect since Rook 1.11. */
      readonly machineDisruptionBudgetNamespace?: string
    }
    readonly mon?: { readonly count?: number }
    readonly mgr?: { readonly count?: number }
    /** The daemons run elsewhere: there is nothing to protect here. */
    readonly external?: { readonly enable?: boolean }
    readonly updatePolicy?: {
      readonly skipUpgradeChecks?: boolean
      readonly continueUpgradeAfterChecksEvenIfNotHealthy?: boolean
      readonly osds?: {
        /** `4` or `"15%"`. */
        readonly maxInParallelPerCluster?: number | string
        readonly removeIfOutAndSafeToDestroy?: boolean
      }
    }
    /** Older place of what `updatePolicy` has. */
    readonly skipUpgradeChecks?: boolean
    /** Older place of what `updatePolicy` has. */
    readonly continueUpgradeAfterChecksEvenIfNotHealthy?: boolean
    /** Older place and name of `updatePolicy.osds.removeIfOutAndSafeToDestroy`. */
    readonly removeOSDsIfOutAndSafeToRemove?: boolean
    readonly upgradeOSDRequiresHealthyPGs?: boolean
    readonly storage?: {
      readonly osdMaxUpdatesInParallel?: number
      readonly useAllNodes?: boolean
      readonly nodes?: readonly StorageNode[]
      readonly storageClassDeviceSets?: readonly StorageClassDeviceSet[]
      /** `spec.placement.all` does not apply to OSDs. */
      readonly onlyApplyOSDPlacement?: boolean
      readonly store?: { readonly type?: string; readonly updateStore?: string }
      readonly migration?: { readonly confirmation?: string }
    } & DeviceSelection
    readonly dataDirHostPath?: string
    readonly network?: { readonly provider?: string; readonly hostNetwork?: boolean }
    readonly cephVersion?: { readonly image?: string }
    /** By `osd`, `osd-hdd` ... */
    readonly resources?: Readonly<Record<string, NonNullable<Container['resources']>>>
    /** By `all`, `osd` ... as are the next three. */
    readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>
    readonly annotations?: Readonly<Record<string, Readonly<Record<string, string>>>>
    readonly priorityClassNames?: Readonly<Record<string, string>>
    readonly placement?: Readonly<Record<string, Placement>>
  }
  readonly status?: {
    readonly ceph?: {
      readonly fsid?: string
      /** `HEALTH_OK` */
      readonly health?: string
      /** By the name of the check: `PG_DEGRADED`. */
      readonly details?: Readonly<Record<string, { readonly severity?: string; readonly message?: string }>>
    }
    /** `19.2.3-0` */
    readonly version?: { readonly version?: string }
  }
}

export interface CephBlockPool extends KubeObject {
  readonly spec?: { readonly failureDomain?: string }
}

export interface CephFilesystem extends KubeObject {
  readonly spec?: {
    readonly metadataServer?: { readonly activeCount?: number; readonly activeStandby?: boolean }
  }
}

export interface CephObjectStore extends KubeObject {
  readonly spec?: { readonly gateway?: { readonly instances?: number } }
}

export interface CephRbdMirror extends KubeObject {
  readonly spec?: { readonly count?: number }
}

export interface CephNfs extends KubeObject {
  readonly spec?: { readonly server?: { readonly active?: number } }
}

export interface CephNvmeofGateway extends KubeObject {
  readonly spec?: { readonly instances?: number }
}

/** Has no number of its own: Rook runs one daemon, and its Deployment says how many there are. */
export type CephFilesystemMirror = KubeObject

const rook = { group: 'ceph.rook.io', version: 'v1', namespaced: true }

export const cephClusters: ResourceType<CephCluster> = { ...rook, plural: 'cephclusters', kind: 'CephCluster' }
export const cephBlockPools: ResourceType<CephBlockPool> = { ...rook, plural: 'cephblockpools', kind: 'CephBlockPool' }
export const cephFilesystems: ResourceType<CephFilesystem> = {
  ...rook,
  plural: 'cephfilesystems',
  kind: 'CephFilesystem',
}
export const cephObjectStores: ResourceType<CephObjectStore> = {
  ...rook,
  plural: 'cephobjectstores',
  kind: 'CephObjectStore',
}
export const cephRbdMirrors: ResourceType<CephRbdMirror> = { ...rook, plural: 'cephrbdmirrors', kind: 'CephRBDMirror' }
export const cephNfses: ResourceType<CephNfs> = { ...rook, plural: 'cephnfses', kind: 'CephNFS' }
export const cephNvmeofGateways: ResourceType<CephNvmeofGateway> = {
  ...rook,
  plural: 'cephnvmeofgateways',
  kind: 'CephNVMeOFGateway',
}
export const cephFilesystemMirrors: ResourceType<CephFilesystemMirror> = {
  ...rook,
  plural: 'cephfilesystemmirrors',
  kind: 'CephFilesystemMirror',
}
