import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** Annotation on a NodeDisruption: locks of others do not count for it, until a time. */
export const breakGlassAnnotation = 'cofferdam.io/break-glass'

/** Annotation `cofferdam.io/break-glass` on the request. Out of force after `untilMs`. */
export interface BreakGlass {
  readonly by: string
  readonly reason: string
  readonly untilMs: number
}

export function formatBreakGlass({ by, reason, untilMs }: BreakGlass): string {
  return JSON.stringify({ by, reason, until: rfc3339(untilMs) })
}

/**
 * What the annotation says; `problem` when it breaks nothing.
 *
 * Fails closed: without a name, a reason and an end nothing is broken. Never throws, whatever somebody wrote there.
 */
export function parseBreakGlass(text: string | undefined): {
  readonly breakGlass?: BreakGlass
  readonly problem?: string
} {
  if (text === undefined) return {}
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return { problem: `annotation ${breakGlassAnnotation} is not JSON; it breaks nothing` }
  }
  if (!isJsonObject(fields))
    return { problem: `annotation ${breakGlassAnnotation} is no JSON object; it breaks nothing` }
  const { by, reason, until } = fields
  const untilMs = typeof until === 'string' ? parseRfc3339(until) : undefined
  if (typeof by !== 'string' || by.trim() === '' || typeof reason !== 'string' || reason.trim() === '') {
    return { problem: `annotation ${breakGlassAnnotation} does not say by whom and why; it breaks nothing` }
  }
  if (untilMs === undefined) {
    return { problem: `annotation ${breakGlassAnnotation} does not say until when; it breaks nothing` }
  }
  return { breakGlass: { by: by.trim(), reason: reason.trim(), untilMs } }
}
