import type { Json } from '@cofferdam/kubernetes/api/json.ts'

/** One request as it goes over the wire. */
export interface WireRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly contentType?: string
  readonly body?: Json
}

/** One answer as it came, with those headers that callers act on. */
export interface WireAnswer {
  readonly code: number
  readonly retryAfter?: string
  readonly warnings?: readonly string[]
  readonly body: Json
}

export interface WatchTaken {
  readonly code: number
  readonly events: readonly Json[]
}

/** One of the two servers that are asked the same. */
export interface Side {
  readonly name: 'real' | 'embedded'
  send(request: WireRequest): Promise<WireAnswer>
  /** Opens a watch and takes what it sends until `enough` of it has come, or until nothing more is to be expected. */
  watch(path: string, enough: (events: readonly Json[]) => boolean): Promise<WatchTaken>
  /** The controller that counts for PodDisruptionBudgets stands still until all who paused it let it go on. */
  pauseBudgets(): Promise<void>
  resumeBudgets(): Promise<void>
  close(): Promise<void>
}
