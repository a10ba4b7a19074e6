import type { HeldBy } from '../../explain/node-verdict.ts'
import type { NodeVerdictView, NodeView, PodView } from './cluster-view.ts'
import type { LonghornPlace } from './longhorn-panel-model.ts'
import type { Tone } from './tone.ts'

/** `gone`: pods are bound to it, and there is no Node of that name. */
export type NodeState = 'ready' | 'cordoned' | 'draining' | 'drained' | 'not-ready' | 'unknown' | 'gone'

export interface NodeViewModel {
  readonly node: NodeView
  readonly state: NodeState
  /** In the order of their names, those a drain would move before those it leaves. */
  readonly pods: readonly PodView[]
  /** With those that are not listed. */
  readonly podCount: number
  /** `alarm`: it is down. `busy`: it is closed, or may not be drained now. */
  readonly tone: Tone
  /** As `explain` judges it; absent until that was asked. */
  readonly verdict?: NodeVerdictView
  /** Pods that have to leave before the node is drained; empty unless it is cordoned. */
  readonly toMove: number
  /** Pods that may not be evicted now, and what holds them. */
  readonly heldBy: ReadonlyMap<string, HeldBy>
  /** What Longhorn has there. */
  readonly longhorn?: LonghornPlace
  /** What becomes of its machine, where it has one. */
  readonly machine?: string
}
