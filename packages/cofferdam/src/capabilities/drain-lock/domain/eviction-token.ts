import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { EvictionToken } from '../../../ledger/rules/decide-eviction.ts'

/** Annotation on an Eviction: for which request it is asked, and under which epoch. */
export const evictionTokenAnnotation = 'cofferdam.io/disruption'

export function buildEvictionToken({ requestId, epoch }: EvictionToken): string {
  return JSON.stringify({ requestId, epoch })
}

/**
 * Undefined when there is none.
 *
 * Fails closed: one that cannot be read names no request, and is in force nowhere.
 */
export function parseEvictionToken(text: string | undefined): EvictionToken | undefined {
  if (text === undefined) return undefined
  const nobody = { requestId: '', epoch: 0 }
  try {
    const fields: unknown = JSON.parse(text)
    if (!isJsonObject(fields)) return nobody
    const { requestId, epoch } = fields
    return typeof requestId === 'string' && typeof epoch === 'number' ? { requestId, epoch } : nobody
  } catch {
    return nobody
  }
}
