import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { bytesLeftOf } from './bytes-left.ts'
import type { LonghornNodeView, LonghornSnapshot, ReplicaView } from './snapshot.ts'

/** On Longhorn's Node, while replicas are asked to leave it: since when, and how much there was. Nothing is decided by it. */
export const movingAnnotation = 'cofferdam.io/moving'

type Moving = NonNullable<LonghornNodeView['moving']>

export function buildMovingRecord({ sinceMs, bytes }: Moving): string {
  return JSON.stringify({ since: rfc3339(sinceMs), bytes })
}

/** Undefined for whatever is not a record. */
export function parseMovingRecord(text: unknown): Moving | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const { since, bytes } = (JSON.parse(text) ?? {}) as { readonly since?: unknown; readonly bytes?: unknown }
    const sinceMs = typeof since === 'string' ? parseRfc3339(since) : undefined
    const isCount = typeof bytes === 'number' && Number.isFinite(bytes) && bytes >= 0
    return sinceMs === undefined || !isCount ? undefined : { sinceMs, bytes }
  } catch {
    return undefined
  }
}

export interface MovingChange {
  readonly node: string
  /** Undefined: nothing moves any more. */
  readonly moving: Moving | undefined
}

/** How much more than its record says must be left before it is written again: volumes in use grow all the time. */
const outgrownBy = 1.1

/**
 * Nodes whose record begins, ends or is outgrown, by the flags that are up now, whoever raised them. In the order of their names.
 *
 * Longhorn raises flags one after the other, so there may be more to move a moment after the first.
 */
export function decideMovingRecords({ nodes, replicas, volumes, nowMs }: LonghornSnapshot): MovingChange[] {
  const leaving = new Map<string, ReplicaView[]>()
  for (const replica of replicas) {
    if (!replica.isActive || !replica.isEvictionRequested) continue
    const others = leaving.get(replica.node)
    if (others === undefined) leaving.set(replica.node, [replica])
    else others.push(replica)
  }
  const byName = new Map(leaving.size > 0 ? volumes.map((volume) => [volume.name, volume]) : [])
  return nodes
    .flatMap(({ name, moving }): MovingChange[] => {
      const found = leaving.get(name)
      if (found === undefined) return moving === undefined ? [] : [{ node: name, moving: undefined }]
      const bytes = found.reduce((sum, { volume }) => sum + bytesLeftOf(byName.get(volume)), 0)
      if (moving !== undefined && bytes <= moving.bytes * outgrownBy) return []
      return [{ node: name, moving: { sinceMs: moving?.sinceMs ?? nowMs, bytes } }]
    })
    .sort((left, right) => (left.node < right.node ? -1 : 1))
}
