import type { NodeClosing } from '../../../shared/closed-node.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { UnreadableObject } from '../../../shared/parsed.ts'

/** The values of the setting `node-drain-policy`. */
export const drainPolicies = [
  'block-if-contains-last-replica',
  'allow-if-replica-is-stopped',
  'always-allow',
  'block-for-eviction',
  'block-for-eviction-if-contains-last-replica',
] as const

export type DrainPolicy = (typeof drainPolicies)[number]

/** Everything that is seen before the drains of one Longhorn are decided; all of it at once, since nodes answer for each other. */
export interface LonghornSnapshot {
  /** Where it is installed. */
  readonly namespace: string
  readonly nowMs: number
  readonly settings: LonghornDrainSettings
  readonly nodes: readonly LonghornNodeView[]
  readonly volumes: readonly VolumeView[]
  readonly replicas: readonly ReplicaView[]
  readonly instanceManagers: readonly InstanceManagerView[]
  /** Instance managers that a budget covers: Longhorn's own, or one of ours beside it. */
  readonly budgets: ReadonlySet<string>
  /** Of these, those with a budget of ours. */
  readonly holds: ReadonlySet<string>
  /** And those with Longhorn's own, by its name. */
  readonly longhornBudgets: ReadonlySet<string>
  /** Names of all other budgets. Longhorn goes by names alone, and takes one that is called as an instance manager for its own. */
  readonly otherBudgets?: ReadonlySet<string>
  /** Objects that could not be read, and why. They never stop the others. */
  readonly unreadable: readonly UnreadableObject[]
}

/**
 * Who decides drains. `observe`: Longhorn, and we only explain. `guide`: Longhorn, and we drive the setting and the requests
 * on its disks. `hold`: the same, and budgets of our own hold what Longhorn would let go too early.
 */
export const drainModes = ['observe', 'guide', 'hold'] as const

export interface LonghornDrainSettings {
  readonly mode: (typeof drainModes)[number]
  /** Longhorn's own manager, for people; undefined where there is none: then nothing moves. */
  readonly manager: Observed<string | undefined>
  /** What somebody else undid of what we wrote, not long ago. */
  readonly reverted: string | undefined
  /** Unknown: a value that is none of the five. A setting that does not exist is Longhorn's default. */
  readonly policy: Observed<DrainPolicy>
  /** What the setting says, which a Longhorn with a drain handling of its own goes by; a guide may want another. */
  readonly inForce: Observed<DrainPolicy>
  /** Since when, at the earliest; undefined: nothing says so. */
  readonly inForceSinceMs?: number
  /** Another client has set it while a node was drained, and it stays until no node is. */
  readonly isYielded?: true
  /** The same while no node is drained: a guide puts it back. */
  readonly atRest: Observed<DrainPolicy>
  /** What counts instead on nodes that only reboot; undefined: the same as on others. */
  readonly rebootPolicy?: Observed<DrainPolicy>
  /** `cordon`: as Longhorn does. `drain`: replicas move only when somebody really evicts, or a NodeDisruption asks for it. */
  readonly trigger: 'cordon' | 'drain'
  /** `kubernetes-cluster-autoscaler-enabled`: a budget only where it protects something. */
  readonly isAutoscaled: boolean
  /** `concurrent-replica-rebuild-per-node-limit` is 0: Longhorn makes no copies. */
  readonly isRebuildOff?: boolean
  /** In percent: how much of a disk may be scheduled, and how much of it stays free. Default: those of Longhorn. */
  readonly room?: { readonly overProvisioning: number; readonly minimalAvailable: number }
  /** What to do with replicas that a cancelled eviction left over. */
  readonly surplus: 'keep' | 'remove'
  /** What is wrong with them, in words. */
  readonly problems: readonly string[]
}

export interface LonghornNodeView {
  readonly name: string
  /** `absent`: the Kubernetes node is gone. `silent`: its kubelet does not answer. */
  readonly kubernetes: 'ready' | 'silent' | 'absent'
  /** Its kubelet is NotReady, though not for long enough to count: what holds for its sake stays, and nothing new does. */
  readonly isBlipping?: boolean
  /** By a cordon, or by the taint of a tool that drains. */
  readonly isCordoned: boolean
  /** What closes it, where that is known. */
  readonly closing?: NodeClosing
  /** A cordon that we set so that Longhorn sees the closing; `lifted`: another client took it away since. */
  readonly ownCordon?: 'set' | 'lifted'
  /** An eviction was attempted on it, or a NodeDisruption is under way. */
  readonly isDraining: boolean
  /** Intent of the NodeDisruption that is under way, if any. */
  readonly intent: 'Reboot' | 'Remove' | 'Replace' | undefined
  /** `spec.evictionRequested` of the Longhorn node. */
  readonly isEvictionAsked: boolean
  readonly isAutoEvicting: boolean
  readonly disks: readonly DiskView[]
  /** Whether Longhorn places replicas on it; undefined: it does not say. */
  readonly takesReplicas?: boolean
  /** Undefined: they are not known. */
  readonly tags?: readonly string[]
  /** Whether a pod of Longhorn's manager is ready on it, which alone requests evictions there; undefined: it is not known. */
  readonly managerPod?: 'ready' | 'away'
  /** Since when it is cordoned and Longhorn could know of it; undefined: it is not, or nothing says since when. */
  readonly cordonedSinceMs?: number
  /** When replicas began to move off it, and how much there was, as we wrote it down. */
  readonly moving?: { readonly sinceMs: number; readonly bytes: number }
}

export interface DiskView {
  /** Its key in `spec.disks`. */
  readonly name: string
  readonly uuid: string
  readonly isEvictionAsked: boolean
  readonly allowScheduling: boolean
  /** Undefined: it is not known. */
  readonly tags?: readonly string[]
  /** What is on it and what fits, in bytes; undefined: it is not known. */
  readonly room?: DiskRoom
}

export interface DiskRoom {
  /** Longhorn's word, which also counts what the figures do not show. */
  readonly isSchedulable: boolean
  readonly maximum: number
  readonly available: number
  readonly scheduled: number
  readonly reserved: number
}

export interface VolumeView {
  readonly name: string
  readonly state: 'attached' | 'detached' | 'moving'
  readonly robustness: 'healthy' | 'degraded' | 'faulted' | 'unknown'
  readonly numberOfReplicas: number
  readonly isStrictLocal: boolean
  /** Why its replicas stay where they are, where it is a linked clone that Longhorn does not move. */
  readonly boundClone?: string | undefined
  /** From its label `cofferdam.io/node-drain-policy`, else from the parameter `nodeDrainPolicy` of its StorageClass; undefined: the setting. */
  readonly policy: Observed<DrainPolicy> | undefined
  readonly actualBytes: number
  /** What is set aside for each copy. */
  readonly sizeBytes?: number | undefined
  readonly dataEngine?: 'v1' | 'v2' | undefined
  /** Only nodes, and disks, with all of these take a copy. */
  readonly nodeTags?: readonly string[] | undefined
  readonly diskTags?: readonly string[] | undefined
  /** Who wants it attached, for people: `pod shop/db-0`, `the Longhorn UI`. */
  readonly attachedBy: string | undefined
  readonly attachedTo: string | undefined
  /** The node whose longhorn-manager handles it. */
  readonly ownedBy?: string | undefined
  /** How much of the copy that is being built is there, from 0 to 1; undefined when none is. */
  readonly rebuiltShare?: number | undefined
  /** Why no node takes another copy, in Longhorn's words; undefined while one does. */
  readonly schedulingProblem?: string | undefined
  /**
   * Why it is not known that its replicas stay what they are: an engine upgrade or a migration is under way, or cannot be
   * ruled out. Undefined: neither is.
   */
  readonly unsettled: string | undefined
  /** The migration or the upgrade that is under way. */
  readonly changing?: string | undefined
  /** Whether two copies may be on one node. */
  readonly sharesNodes?: boolean | undefined
  /** Who wants it attached, and where; absent: nobody. */
  readonly tickets?: readonly AttachmentTicketView[] | undefined
}

export interface AttachmentTicketView {
  readonly id: string
  readonly type: string
  readonly node: string
}

export interface ReplicaView {
  readonly name: string
  readonly volume: string
  /**
   * Whether the engine in force uses it. While an engine is upgraded or a volume migrates, each replica has an inactive
   * double over the same data: no copy of its own.
   */
  readonly isActive: boolean
  /** Directory of its data on its disk; '' when it is not known. */
  readonly directory: string
  /** '' when it has no place yet. */
  readonly node: string
  readonly diskUuid: string
  readonly healthyAt: string
  readonly failedAt: string
  /** Both the wish and the fact. */
  readonly isStopped: boolean
  readonly isEvictionRequested: boolean
  /** Of a linked clone: the replica whose data it reads through to, which stays as long. */
  readonly cloneSource?: string | undefined
  /** By its status, else by the default image of its node. */
  readonly instanceManager: string | undefined
  readonly isBeingDeleted: boolean
}

export interface InstanceManagerView {
  readonly name: string
  readonly node: string
  readonly image: string
  readonly type: 'aio' | 'engine' | 'replica'
  readonly dataEngine: 'v1' | 'v2'
  readonly isRunning: boolean
  /** Volumes whose engine or engine frontend runs in it. */
  readonly engines: readonly string[]
}
