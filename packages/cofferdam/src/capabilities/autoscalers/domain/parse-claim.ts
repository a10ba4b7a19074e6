import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { type NodeClaim, nodePoolLabel, terminationTimeAnnotation } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** What is kept of a claim of Karpenter: how its node ends. */
export interface ClaimView {
  readonly name: string
  /** '' while it has none. */
  readonly nodeName: string
  readonly pool: string
  /** Karpenter removes the node now. */
  readonly isLeaving: boolean
  /** By when every pod of the node is deleted, budgets or not. Only while it is leaving. */
  readonly endsMs: number | undefined
  /** How long pods have once the claim is deleted, as the claim says it; undefined: as long as their budgets want. */
  readonly gracePeriod: string | undefined
  /** When Karpenter removes the node for its age. */
  readonly expiresMs: number | undefined
}

/** Whatever cannot be read counts as not said: it is another tool's object, and nothing is decided by it. */
export function parseClaim({ metadata, spec, status }: NodeClaim): ClaimView {
  const isLeaving = metadata.deletionTimestamp !== undefined
  const gracePeriod = textOf(spec?.terminationGracePeriod)
  const endsAt = textOf(metadata.annotations?.[terminationTimeAnnotation])
  const livesMs = parseDuration(textOf(spec?.expireAfter) ?? '')
  const createdMs = parseRfc3339(metadata.creationTimestamp ?? '')
  return {
    name: metadata.name,
    nodeName: textOf(status?.nodeName) ?? '',
    pool: textOf(metadata.labels?.[nodePoolLabel]) ?? '',
    isLeaving,
    endsMs: isLeaving && endsAt !== undefined ? parseRfc3339(endsAt) : undefined,
    gracePeriod,
    expiresMs: livesMs === undefined || createdMs === undefined ? undefined : createdMs + livesMs,
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
