import type { LonghornDataEngine, LonghornVolume } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'

export interface DiskDescription {
  /** Its key in `spec.disks`. */
  readonly name: string
  /** Default: made up once, from the seed. */
  readonly uuid?: string
  readonly maximumBytes?: number
  readonly reservedBytes?: number
  readonly diskType?: 'filesystem' | 'block'
  readonly tags?: readonly string[]
}

export interface LonghornNodeDescription {
  readonly disks?: readonly DiskDescription[]
  readonly tags?: readonly string[]
}

export interface VolumeDescription extends Omit<NonNullable<LonghornVolume['spec']>, 'size' | 'nodeID'> {
  readonly name: string
  /** Bytes that its user sees. Default 1 GiB. */
  readonly sizeBytes?: number
  /** How much of it holds data from the start: 0 to 1. Default 0: nobody ever attached it. With data, its copies were healthy before. */
  readonly filled?: number
  readonly labels?: Readonly<Record<string, string>>
  /** Where its first replicas are, in this order; the scheduler chooses for the rest. */
  readonly placedOn?: readonly string[]
  /** Pods that mount this claim attach the volume. */
  readonly claim?: { readonly namespace: string; readonly name: string }
}

export interface LonghornTimings {
  readonly attachMs: number
  readonly detachMs: number
  /** Resync interval of all controllers. */
  readonly resyncMs: number
  /** A node has to be NotReady for this long before anybody acts on it. */
  readonly notReadyGraceMs: number
  /** From the loss of a replica's process to the engine's word that it failed. */
  readonly ioTimeoutMs: number
  readonly rebuildBytesPerSecond: number
  /** From the start of the processes of a new engine image until the engine runs with it. */
  readonly engineUpgradeMs: number
  /** A failed replica goes after this time, unless its volume names another. */
  readonly staleReplicaMs: number
}

export type LonghornController = 'volume' | 'node' | 'instance-manager' | 'attachment' | 'eviction'

export interface LonghornDescription {
  /** Default: longhorn-system. */
  readonly namespace?: string
  /** Image of instance managers, unless the settings name one. */
  readonly image?: string
  readonly dataEngines?: readonly LonghornDataEngine[]
  /** On every node that does not say otherwise. */
  readonly disks?: readonly DiskDescription[]
  /** Only these nodes have Longhorn. Default: all. */
  readonly nodes?: Readonly<Record<string, LonghornNodeDescription>>
  readonly volumes?: readonly VolumeDescription[]
  /** Values that differ from the defaults; null: the object is missing. */
  readonly settings?: Readonly<Record<string, string | null>>
  readonly timings?: Partial<LonghornTimings>
  /**
   * How detached volumes are attached so that they can rebuild. `owner`: as Longhorn does, on the node that owns them, where any disk would
   * do for another replica, and until no replica is to go any more, even where that disk is gone meanwhile. `healthy`: better, on a
   * node that is well, and only as long as the replica that is to go has a place. `nobody`: Longhorn attaches none for that; whoever
   * moves replicas makes the tickets.
   */
  readonly attachForEviction?: 'owner' | 'healthy' | 'nobody'
  /**
   * Decides evictions and budgets by itself, as Longhorn does, every resync. Then there is a DaemonSet longhorn-manager too, as in
   * every release. Without it there is none: what runs is a data plane that decides no drain.
   */
  readonly ownDrainHandling?: boolean
  /** With the Deployments csi-attacher and csi-provisioner, as every real Longhorn has them. Default true. */
  readonly csi?: boolean
  /** How late each controller hears of changes by others. */
  readonly cacheLagMs?: Partial<Record<LonghornController, number>>
  /** The share of writes that are refused as if somebody else had been faster. */
  readonly conflictRate?: number
  /** Goes through replicas in an order drawn from the seed, as maps give none; by name otherwise. */
  readonly drawnOrder?: boolean
  readonly blocks?: { readonly count?: number; readonly bytes?: number }
}

export const gibibyte = 1024 ** 3

export const defaultImage = 'longhornio/longhorn-instance-manager:v1.12.1'

export const engineImageSetting = 'default-engine-image'
export const managerImageSetting = 'default-instance-manager-image'

/** The setting with the image that new volumes run with: the second data engine lives in the instance manager itself. */
export function imageSettingOf(dataEngine: LonghornDataEngine = 'v1'): string {
  return dataEngine === 'v2' ? managerImageSetting : engineImageSetting
}

export const defaultDisks: readonly DiskDescription[] = [{ name: 'default-disk', maximumBytes: 100 * gibibyte }]

/** Upstream's, but for the rate: what a small cluster needs to be healthy again in less than a minute. */
export const defaultTimings: LonghornTimings = {
  attachMs: 2_000,
  detachMs: 1_000,
  resyncMs: 30_000,
  notReadyGraceMs: 15_000,
  ioTimeoutMs: 1_000,
  rebuildBytesPerSecond: 100 * 1024 ** 2,
  engineUpgradeMs: 5_000,
  staleReplicaMs: 30 * 60_000,
}

/** What an installation begins with: the settings that it describes, and the defaults for the others. */
export function firstSettings({
  image = defaultImage,
  settings,
}: Pick<LonghornDescription, 'image' | 'settings'>): Readonly<Record<string, string | null>> {
  return { ...defaultSettings, [managerImageSetting]: image, ...settings }
}

/** What every installation begins with. */
export const defaultSettings: Readonly<Record<string, string>> = {
  'allow-volume-creation-with-degraded-availability': 'true',
  'auto-salvage': 'true',
  'concurrent-replica-rebuild-per-node-limit': '5',
  'default-data-locality': 'disabled',
  [engineImageSetting]: 'longhornio/longhorn-engine:v1.12.1',
  [managerImageSetting]: defaultImage,
  'default-replica-count': '3',
  'detach-manually-attached-volumes-when-cordoned': 'false',
  'disable-scheduling-on-cordoned-node': 'true',
  'kubernetes-cluster-autoscaler-enabled': 'false',
  'node-drain-policy': 'block-if-contains-last-replica',
  'replica-auto-balance': 'disabled',
  'replica-disk-soft-anti-affinity': 'true',
  'replica-replenishment-wait-interval': '600',
  'replica-soft-anti-affinity': 'false',
  'replica-zone-soft-anti-affinity': 'true',
  'storage-minimal-available-percentage': '25',
  'storage-over-provisioning-percentage': '100',
  'v2-data-engine-fast-replica-rebuilding': 'false',
}
