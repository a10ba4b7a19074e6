import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Observed } from '../../../shared/observed.ts'

/** What must be seen to decide about Machines that are deleted. */
export interface MachineDeletionSnapshot {
  readonly machines: Observed<readonly MachineView[]>
  readonly nodes: Observed<readonly MachineNode[]>
  /** All requests of the cluster. */
  readonly requests: Observed<readonly NodeDisruption[]>
  readonly nowMs: number
}

export interface MachineView {
  readonly api: 'openshift' | 'cluster-api'
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** Its owner wants its node drained by Cofferdam before it is deleted. */
  readonly isOptedIn: boolean
  readonly hooks: DeletionHooks
  /** Since when it is to go; undefined while it is not, or only moves to another cluster. */
  readonly deletedSinceMs?: number
  /** The machine controller does nothing for it. */
  readonly isPaused: boolean
  /** Its owner wants it deleted without any drain. */
  readonly isExcluded: boolean
  readonly nodeName?: string
  readonly nodeUid?: string
  readonly providerID?: string
}

/** What keeps its machine controller from draining it. */
export interface DeletionHooks {
  readonly isOurs: boolean
  /** OpenShift: the hooks of others, which are written back as they are. */
  readonly others: readonly object[]
}

export interface MachineNode {
  readonly name: string
  readonly uid: string
  readonly providerID?: string
  readonly isReady: boolean
  /** Since when it has been Ready, or has not. */
  readonly readyChangedMs?: number
}
