import type { Observed } from '../../../shared/observed.ts'

/** Everything that is seen before it is decided which machines may be fenced. All clusters at once: a machine may serve several. */
export interface FencingSnapshot {
  readonly nowMs: number
  readonly clusters: readonly FencedCluster[]
  /** Whether the API server knows any kind of Machine. */
  readonly areMachinesServed: boolean
  /** Whether it knows the NodeHealthChecks of medik8s, which fence nodes without Machines. */
  readonly areNodeChecksServed: boolean
  readonly machines: readonly MachineView[]
  readonly nodes: readonly FencedNodeView[]
  /** Budgets that are ours by owner or by name, and others that select managed machines. */
  readonly budgets: readonly MachineBudgetView[]
  readonly remediators: readonly RemediatorView[]
  /** Whether medik8s keeps Leases here: its namespace for them exists. */
  readonly areLeasesUsed: boolean
  /** The Leases by which medik8s keeps others off a node, by node. */
  readonly leases: ReadonlyMap<string, NodeLeaseView>
  /** Requests whose drain for a reboot has begun. */
  readonly reboots: Observed<readonly RebootRequest[]>
  /** Objects that could not be read, and why. They never stop the others. */
  readonly unreadable: readonly { readonly object: string; readonly why: string }[]
}

/** One CephCluster. */
export interface FencedCluster {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly isBeingDeleted: boolean
  readonly settings: FencingSettings
  readonly evidence: Observed<CephEvidence>
  readonly osds: readonly FencedOsd[]
  /** Why its OSDs could not be read; then any machine may carry some. */
  readonly osdsUnread?: string
  /** Its monitors. Absent where they were not read. */
  readonly mons?: readonly FencedMon[]
  /** Ceph was asked and gave no answer. Absent: it answered, or nobody asked. */
  readonly silence?: CephSilence
  /** Failure domains that the ledger holds for fences: one without a record on a budget is a fence that somebody made us forget. */
  readonly heldForFences?: readonly string[]
  /** Who holds the storage key in the ledger; others than fencing itself. Absent where there is no ledger. */
  readonly heldBy?: Observed<readonly StorageHolder[]>
}

export interface FencingSettings {
  /** Unless `disruptionManagement.manageMachineDisruptionBudgets` is false. Then nothing is written for the cluster, and what is ours goes. */
  readonly isManaged: boolean
  /** The storage is elsewhere, so no machine here has OSDs of it. */
  readonly isExternal?: boolean
  /** `disruptionManagement.machineDisruptionBudgetNamespace`, else where OpenShift keeps machines. */
  readonly budgetNamespace: string
  /** Annotation `cofferdam.io/rook-fence-labels: "true"` on the CephCluster: Rook's two older label keys are written as well. */
  readonly writesRookLabels: boolean
  /** Older evidence is none. Default 60 000. */
  readonly maxEvidenceAgeMs: number
  readonly problems: readonly string[]
}

export interface CephEvidence {
  /** When the pass began that it comes from. */
  readonly polledAtMs: number
  /** Whether every placement group is clean, by reports newer than the last change. */
  readonly isClean: Observed<boolean>
  readonly upOsds: ReadonlySet<number>
  /** Read from what the operator wrote down. When it polled is not on record: a fence is over when it takes it off the budget. */
  readonly isRecord?: boolean
  /** An OSD has left, come or restarted since, so whether all is clean is not known. */
  readonly isOutdated?: boolean
}

export interface FencedOsd {
  readonly id: number
  /** Its pod is Ready and not being deleted. */
  readonly isReady: boolean
  readonly nodeName: Observed<string>
  /** Its failure domain, as the storage key is scoped. */
  readonly domain: string | undefined
  /** It has no pod that stays: each is being deleted, or gone. */
  readonly isLeaving?: boolean
  /** When a pod of it that stays was last made, became Ready or stopped being so, to the second. */
  readonly changedMs?: number
}

export interface FencedMon {
  readonly name: string
  /** Where its pods are bound to a node. */
  readonly places: readonly { readonly nodeName: string; readonly isReady: boolean }[]
}

export interface CephSilence {
  /** When it was asked last, of those times that it answered this process. */
  readonly lastAnswerMs: number | undefined
}

export interface StorageHolder {
  readonly holder: string
  readonly requestId: string
  /** Failure domains; '' is all. */
  readonly scope: string
}

export interface MachineView {
  /** `openshift`: machine.openshift.io; `cluster-api`: cluster.x-k8s.io. */
  readonly api: 'openshift' | 'cluster-api'
  readonly namespace: string
  readonly name: string
  /** Undefined while it has no node, or its node is not known. */
  readonly nodeName: string | undefined
  readonly isBeingDeleted: boolean
  readonly labels: Readonly<Record<string, string>>
  /** Label keys that we put on it, by its annotation. */
  readonly labelsOfOurs: readonly string[]
  /** Whether our hook keeps it from being terminated. OpenShift only. */
  readonly isHookedByUs: boolean
  /** It is being deleted, and our pre-drain hook keeps it until its node is drained. */
  readonly isDrainedFirst?: boolean
  /** Whether we paused it for Cluster API; `others`: somebody else did. */
  readonly skip: 'ours' | 'others' | undefined
  /** Its remediator said on it that it takes it away: by Cluster API's condition, or OpenShift's annotation for bare metal. */
  readonly isRemediated?: boolean
}

export interface FencedNodeView {
  readonly name: string
  /** A node that was made again under the same name is another one. */
  readonly uid?: string
  readonly isReady: boolean
  readonly notReadySinceMs: number | undefined
  /** Its kubelet sends no heartbeat: Ready is Unknown. */
  readonly isSilent?: boolean
  readonly readySinceMs?: number | undefined
  /** Id of this boot: another one proves that a reboot is over. */
  readonly bootID: string
}

/** A request that drains a node for a reboot, and has begun. */
export interface RebootRequest {
  readonly name: string
  readonly nodeName: string
  /** Undefined: not on record. */
  readonly nodeUid: string | undefined
  /** Who asks, in readable form. */
  readonly by: string
  /** `Draining`: it was not said yet that the node may go. */
  readonly phase: 'Draining' | 'Drained' | 'Recovering'
  /** Since when it is in this phase. Undefined: not on record. */
  readonly phaseSinceMs: number | undefined
  /** The boot that goes. Undefined: not on record. */
  readonly bootIDBefore: string | undefined
  /** How long the node may be away. */
  readonly returnWithinMs: number
  readonly deadlineMs: number | undefined
  /** Since when the node is away, as was noted on the request when that was first seen. */
  readonly notedAwayMs: number | undefined
}

export interface MachineBudgetView {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly generation: number
  readonly isOurs: boolean
  /** The CephCluster it was made for, as it says itself. */
  readonly clusterUid?: string | undefined
  /** Undefined: not a number, or not set. */
  readonly maxUnavailable: number | undefined
  /** The label key it selects by; undefined: another selector than ours. */
  readonly labelKey: string | undefined
  /** Names of machines that a remediator was let through for, with the time. */
  readonly disrupted: ReadonlyMap<string, number>
  /** Fences that we saw begin, by machine, as we wrote them on the budget. */
  readonly fences: ReadonlyMap<string, RecordedFence>
  /** Whether that could be read; if not, a fence may be under way that nobody remembers. */
  readonly isRecordReadable: boolean
  readonly status: {
    readonly observedGeneration: number
    readonly disruptionsAllowed: number
    readonly currentHealthy: number
    readonly desiredHealthy: number
    readonly expectedMachines: number
  }
}

/** What has to be remembered of a fence when its machine is gone. */
export interface RecordedFence {
  readonly node: string
  readonly bootID: string
  readonly scope: string
  readonly sinceMs: number
  /** When its machine was first seen to be gone. */
  readonly goneMs?: number
}

/** Something that takes sick machines away by itself. */
export interface RemediatorView {
  readonly kind: 'openshift-mhc' | 'cluster-api-mhc' | 'medik8s-nhc'
  /** `openshift-machine-api/workers`; NodeHealthChecks have no namespace. */
  readonly key: string
  /** Names of the nodes it manages; undefined: unknown. */
  readonly nodes: readonly string[] | undefined
  /** What it says of itself: whether somebody manages the object at all. That nobody does cannot be known. */
  readonly isAlive: Observed<true>
  /** It deletes Machines, so that a hook on one holds it up; else it reboots or replaces them by itself, and hooks hold nothing. */
  readonly isHeldByHooks: boolean
  /** Our own pause, as we left it. */
  readonly isPausedByUs: boolean
  /** Paused by anybody else. */
  readonly isPausedByOthers: boolean
  /** Nodes it is remediating now. */
  readonly remediating: readonly string[]
}

export interface NodeLeaseView {
  readonly holder: string
  /** By its own times; medik8s compares them with its clock. */
  readonly validUntilMs: number
  readonly isOurs: boolean
}
