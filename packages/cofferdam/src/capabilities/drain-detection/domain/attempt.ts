import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { harmlessJson } from '../../../shared/harmless-text.ts'

/** Annotation on a Node: who last asked for the eviction of one of its pods, granted or not. Each guard writes what it saw. */
export const evictionAttemptedAnnotation = 'cofferdam.io/eviction-attempted'

export interface EvictionAttempt {
  readonly by: string
  readonly atMs: number
}

export function buildAttempt({ by, atMs }: EvictionAttempt): string {
  return harmlessJson(JSON.stringify({ by, at: rfc3339(atMs) }))
}

/** Undefined for what cannot be read: anybody may write annotations, and nothing rests on this one being there. */
export function parseAttempt(text: string | undefined): EvictionAttempt | undefined {
  if (text === undefined) return undefined
  try {
    const { by, at } = JSON.parse(text) as { by?: unknown; at?: unknown }
    const atMs = typeof at === 'string' ? parseRfc3339(at) : undefined
    return typeof by === 'string' && atMs !== undefined ? { by, atMs } : undefined
  } catch {
    return undefined
  }
}
