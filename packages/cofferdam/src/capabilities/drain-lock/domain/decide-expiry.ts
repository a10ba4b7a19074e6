import type { Step } from '../../../shared/steps.ts'

/** A request that has ended, or has not. */
export interface ExpirySnapshot {
  readonly nowMs: number
  readonly name: string
  readonly uid: string
  /** When it ended; undefined while it has not, or while something of it is left to be undone. */
  readonly endedMs: number | undefined
  /** Its own time, else that of the policy; undefined where the policy cannot be read. */
  readonly ttlMs: number | undefined
}

export interface DeleteRequest extends Step {
  readonly do: 'write'
  readonly name: string
  readonly uid: string
}

export interface ExpiryDecision {
  readonly steps: readonly DeleteRequest[]
  readonly recheckAfterMs: number | undefined
}

export const defaultTtlMs = 7 * 24 * 3_600_000

/**
 * Deletes a request some time after its end, so that requests of many upgrades do not pile up.
 *
 * Guarantees: only what has ended, and that very object.
 * Fails closed: what cannot be read is kept.
 */
export function decideExpiry(snapshot: ExpirySnapshot | undefined): ExpiryDecision {
  const { endedMs, ttlMs } = snapshot ?? {}
  if (snapshot === undefined || endedMs === undefined || ttlMs === undefined)
    return { steps: [], recheckAfterMs: undefined }
  const { nowMs, name, uid } = snapshot
  const leftMs = endedMs + ttlMs - nowMs
  if (leftMs > 0) return { steps: [], recheckAfterMs: leftMs }
  return { steps: [{ do: 'write', name, uid }], recheckAfterMs: undefined }
}
