import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { LabelSelector, Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { ToolRequestSnapshot } from '../../../shared/tool-request.ts'

/** What is kept of a node. */
export interface ConfiguredNode {
  readonly name: string
  readonly labels: Labels
  readonly bootID: string
  readonly isCordoned: boolean
  /** What its daemon asks the Machine Config Operator for; undefined: nothing, or nothing that can be read. */
  readonly drain: ConfigDrain | undefined
}

export interface ConfigDrain {
  /** `drain-rendered-worker-1`: the same for as long as one update lasts. */
  readonly wish: string
  /** The configuration that it is drained for. */
  readonly config: string
  /** `asked`: it is to be drained. `done`: it was, and is about to reboot, or to be uncordoned after that. */
  readonly is: 'asked' | 'done'
}

/** What is kept of a pool. */
export interface PoolView {
  readonly name: string
  readonly about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>
  /** Undefined: it cannot be read, so the pool has no nodes. */
  readonly selector: LabelSelector | undefined
  readonly isPaused: boolean
  /** Its administrator lets Cofferdam pause it. */
  readonly isManaged: boolean
  readonly isDeleted: boolean
  readonly mark: PauseMark
}

/** What Cofferdam has noted on the pool about its own pause. */
export type PauseMark =
  | { readonly is: 'absent' }
  | { readonly is: 'paused'; readonly sinceMs: number }
  /** It ended before its time: no other begins until nothing asks for one. */
  | { readonly is: 'lifted' }
  /** Another hand changed it: the pause is theirs now. */
  | { readonly is: 'changed' }

export interface MachineConfigSnapshot extends Pick<ToolRequestSnapshot, 'requests'> {
  readonly pools: readonly PoolView[]
  readonly nodes: readonly ConfiguredNode[]
  readonly nowMs: number
}
