import type { Condition, KubeObject } from '../kube-object.ts'
import type { ResourceType } from '../resource-type.ts'

/** Longhorn's kinds with only the fields that are read or written here. */
export interface LonghornSetting extends KubeObject {
  readonly value?: string
  readonly status?: { readonly applied?: boolean }
}

export interface LonghornDiskSpec {
  readonly path?: string
  readonly diskType?: 'filesystem' | 'block'
  readonly allowScheduling?: boolean
  readonly evictionRequested?: boolean
  readonly storageReserved?: number
  readonly tags?: readonly string[]
}

export interface LonghornDiskStatus {
  readonly diskUUID?: string
  readonly storageAvailable?: number
  readonly storageMaximum?: number
  readonly storageScheduled?: number
  /** Names of replicas with their sizes. */
  readonly scheduledReplica?: Readonly<Record<string, number>>
  readonly conditions?: readonly Condition[]
}

/** Has the name of the Kubernetes node. */
export interface LonghornNode extends KubeObject {
  readonly spec?: {
    readonly name?: string
    readonly allowScheduling?: boolean
    readonly evictionRequested?: boolean
    readonly tags?: readonly string[]
    readonly disks?: Readonly<Record<string, LonghornDiskSpec>>
  }
  readonly status?: {
    readonly autoEvicting?: boolean
    readonly zone?: string
    readonly region?: string
    readonly conditions?: readonly Condition[]
    readonly diskStatus?: Readonly<Record<string, LonghornDiskStatus>>
  }
}

export type LonghornDataEngine = 'v1' | 'v2'

/** Labels `longhornnode`, `longhorndiskuuid` and `longhornvolume` say the same as its spec. */
export interface LonghornReplica extends KubeObject {
  readonly spec?: {
    readonly volumeName?: string
    readonly nodeID?: string
    readonly diskID?: string
    readonly engineName?: string
    /**
     * Whether the engine in force uses it. While an engine is upgraded or a volume migrates, each replica has an inactive
     * double with the same data directory; to delete the active one deletes the data of both.
     */
    readonly active?: boolean
    /** Image of the engine that runs it. */
    readonly image?: string
    /** Under the path of its disk; two replicas with the same one are one copy. */
    readonly dataDirectoryName?: string
    readonly evictionRequested?: boolean
    readonly hardNodeAffinity?: string
    readonly desireState?: 'running' | 'stopped'
    /** RFC 3339; '' when it never was, or is being rebuilt. */
    readonly healthyAt?: string
    readonly failedAt?: string
    readonly lastHealthyAt?: string
    readonly lastFailedAt?: string
    readonly rebuildRetryCount?: number
    /** Since 1.12.1, of a linked clone: the replica whose data it reads through to, which is not deleted meanwhile. */
    readonly linkedCloneSrcReplicaName?: string
    readonly dataEngine?: LonghornDataEngine
    /** Bytes, as text. */
    readonly volumeSize?: string
  }
  readonly status?: {
    readonly ownerID?: string
    readonly currentState?: 'running' | 'stopped' | 'starting' | 'stopping' | 'error' | 'unknown'
    /** Where its process listens; Longhorn's code refuses to write a replica that runs without both, or stands still with one. */
    readonly ip?: string
    readonly storageIP?: string
    /** Image it runs with; '' while it is stopped. */
    readonly currentImage?: string
    readonly instanceManagerName?: string
    /** Before 1.6; removed in 1.10. */
    readonly evictionRequested?: boolean
  }
}

export interface LonghornInstanceManager extends KubeObject {
  readonly spec?: {
    readonly nodeID?: string
    readonly image?: string
    readonly type?: 'aio' | 'engine' | 'replica'
    readonly dataEngine?: LonghornDataEngine
  }
  readonly status?: {
    readonly ownerID?: string
    readonly currentState?: 'running' | 'stopped' | 'starting' | 'error' | 'unknown'
    readonly conditions?: readonly Condition[]
    readonly instanceEngines?: Readonly<Record<string, object>>
    readonly instanceEngineFrontends?: Readonly<Record<string, object>>
    readonly instanceReplicas?: Readonly<Record<string, object>>
    /** Of managers from before 1.5, which are for engines or for replicas: all that run in it. */
    readonly instances?: Readonly<Record<string, object>>
  }
}

export interface LonghornVolume extends KubeObject {
  readonly spec?: {
    readonly size?: string
    readonly numberOfReplicas?: number
    readonly dataLocality?: 'disabled' | 'best-effort' | 'strict-local'
    readonly nodeID?: string
    readonly migrationNodeID?: string
    /** Image of the engine it should run with. */
    readonly image?: string
    /** What it was made from: `vol://NAME` or `snap://NAME/SNAPSHOT`. */
    readonly dataSource?: string
    /**
     * Since 1.10. A linked clone reads through to the disks of its source, so that its replicas stay beside those: 1.10.0 to 1.12.0
     * refuse to evict them.
     */
    readonly cloneMode?: '' | 'full-copy' | 'linked-clone'
    readonly dataEngine?: LonghornDataEngine
    readonly replicaSoftAntiAffinity?: 'ignored' | 'enabled' | 'disabled'
    readonly replicaZoneSoftAntiAffinity?: 'ignored' | 'enabled' | 'disabled'
    readonly replicaDiskSoftAntiAffinity?: 'ignored' | 'enabled' | 'disabled'
    readonly nodeSelector?: readonly string[]
    readonly diskSelector?: readonly string[]
    /** Minutes. */
    readonly staleReplicaTimeout?: number
  }
  readonly status?: {
    readonly ownerID?: string
    readonly state?: 'creating' | 'attached' | 'detached' | 'attaching' | 'detaching' | 'deleting'
    readonly robustness?: 'healthy' | 'degraded' | 'faulted' | 'unknown'
    readonly currentNodeID?: string
    readonly currentMigrationNodeID?: string
    /** Image of the engine it runs with; another than the spec's while it is upgraded. */
    readonly currentImage?: string
    readonly actualSize?: number
    readonly lastDegradedAt?: string
    readonly conditions?: readonly Condition[]
    readonly kubernetesStatus?: {
      readonly pvcName?: string
      readonly namespace?: string
      readonly workloadsStatus?: readonly { readonly podName?: string }[]
    }
  }
}

export interface LonghornEngine extends KubeObject {
  readonly spec?: {
    readonly volumeName?: string
    readonly volumeSize?: string
    readonly dataEngine?: LonghornDataEngine
    readonly nodeID?: string
    readonly desireState?: 'running' | 'stopped'
    readonly active?: boolean
    readonly image?: string
  }
  readonly status?: {
    readonly currentState?: string
    readonly currentImage?: string
    readonly instanceManagerName?: string
    /** By replica: RW has all data, WO is being rebuilt, ERR failed. */
    readonly replicaModeMap?: Readonly<Record<string, 'RW' | 'WO' | 'ERR'>>
    readonly rebuildStatus?: Readonly<
      Record<string, { readonly progress?: number; readonly isRebuilding?: boolean; readonly error?: string }>
    >
  }
}

/** A version of the engine, named after the hash of its image: where it can be started. */
export interface LonghornEngineImage extends KubeObject {
  readonly spec?: { readonly image?: string }
  readonly status?: {
    readonly ownerID?: string
    readonly state?: 'deploying' | 'deployed' | 'incompatible' | 'error'
    /** How many objects run with it, or should. */
    readonly refCount?: number
    /** RFC 3339; '' while anything runs with it. */
    readonly noRefSince?: string
    readonly incompatible?: boolean
    /** By node. */
    readonly nodeDeploymentMap?: Readonly<Record<string, boolean>>
    readonly conditions?: readonly Condition[]
    readonly version?: string
  }
}

/** One per volume, of the same name: who wants it attached, and where. */
export interface LonghornVolumeAttachment extends KubeObject {
  readonly spec?: {
    readonly volume?: string
    readonly attachmentTickets?: Readonly<
      Record<
        string,
        {
          readonly id?: string
          readonly type?: string
          readonly nodeID?: string
          readonly parameters?: Readonly<Record<string, string>>
        }
      >
    >
  }
}

const longhorn = { group: 'longhorn.io', version: 'v1beta2', namespaced: true }

/** Where Longhorn is unless it was installed elsewhere. */
export const longhornNamespace = 'longhorn-system'
export const longhornSettings: ResourceType<LonghornSetting> = { ...longhorn, plural: 'settings', kind: 'Setting' }
export const longhornNodes: ResourceType<LonghornNode> = { ...longhorn, plural: 'nodes', kind: 'Node' }
export const longhornReplicas: ResourceType<LonghornReplica> = { ...longhorn, plural: 'replicas', kind: 'Replica' }
export const longhornEngines: ResourceType<LonghornEngine> = { ...longhorn, plural: 'engines', kind: 'Engine' }
export const longhornEngineImages: ResourceType<LonghornEngineImage> = {
  ...longhorn,
  plural: 'engineimages',
  kind: 'EngineImage',
}
export const longhornVolumes: ResourceType<LonghornVolume> = { ...longhorn, plural: 'volumes', kind: 'Volume' }
export const longhornInstanceManagers: ResourceType<LonghornInstanceManager> = {
  ...longhorn,
  plural: 'instancemanagers',
  kind: 'InstanceManager',
}
export const longhornVolumeAttachments: ResourceType<LonghornVolumeAttachment> = {
  ...longhorn,
  plural: 'volumeattachments',
  kind: 'VolumeAttachment',
}
