import type { PodReference } from '../../../shared/object-references.ts'
import type { DisruptionBlocker, DisruptionWarning } from './decision.ts'
import type { DisruptionSnapshot, RequestView } from './snapshot.ts'

/** What one pass over a request is decided on. */
export type PassSnapshot =
  /** There is no such request. */
  | { readonly state: 'gone' }
  /** Our finalizer is not on it; nothing else is observed before it is. */
  | { readonly state: 'unprotected'; readonly request: RequestView }
  | FarRequest
  | ProtectedRequest

/** So many requests are older that it has no place in the queue. Nothing of the cluster is observed for it, and nothing is done. */
export interface FarRequest {
  readonly state: 'far'
  readonly request: RequestView
  readonly ahead: number
  readonly nowMs: number
}

export interface ProtectedRequest {
  readonly state: 'protected'
  readonly seen: DisruptionSnapshot
  /** Pods and budgets are as the API server has them, not from copies that may be behind. */
  readonly isFresh: boolean
  /** Another process has taken the request over from this one, and lives. */
  readonly isReplaced: boolean
  /** What the API server last said of pods of the request that it did not evict. */
  readonly refusals: readonly DisruptionBlocker[]
  /** Pods of the request whose eviction this process was granted. */
  readonly granted: readonly PodReference[]
  /** Annotations that cannot be used: they block nothing, and are reported to the requester. */
  readonly faults: readonly DisruptionWarning[]
  /** No write is stored, so what leads on from one is never seen. */
  readonly isDryRun: boolean
}
