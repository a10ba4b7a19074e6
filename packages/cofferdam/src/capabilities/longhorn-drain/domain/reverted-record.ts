import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** On the setting `node-drain-policy`: the last write of ours that somebody else undid. Nothing is decided by it. */
export const revertedAnnotation = 'cofferdam.io/reverted'

export interface RevertedRecord {
  readonly atMs: number
  /** What was undone and by whom, in one sentence. */
  readonly says: string
}

/** For how long it is reported after it happened. */
const reportedMs = 3_600_000

export function buildRevertedRecord({ atMs, says }: RevertedRecord): string {
  return JSON.stringify({ at: rfc3339(atMs), says })
}

/** Undefined for whatever is not a record, and for one that is old. */
export function parseRevertedRecord(text: unknown, nowMs: number): RevertedRecord | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const { at, says } = (JSON.parse(text) ?? {}) as { readonly at?: unknown; readonly says?: unknown }
    const atMs = typeof at === 'string' ? parseRfc3339(at) : undefined
    if (atMs === undefined || typeof says !== 'string' || nowMs - atMs >= reportedMs) return undefined
    return { atMs, says: says.slice(0, 500) }
  } catch {
    return undefined
  }
}
