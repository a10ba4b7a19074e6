import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { breakGlassAnnotation } from '../../shared/break-glass-annotation.ts'

/** Annotation `cofferdam.io/break-glass` on the request. Out of force after `untilMs`. */
export interface BreakGlass {
  readonly by: string
  readonly reason: string
  readonly untilMs: number
}

/** How long an override may last. */
export const longestBreakGlassMs = 3_600_000

/** Clocks of those who ask and of those who judge differ. */
const clockSlackMs = 300_000

/** Whether it is in force: it has an end, and that is no further ahead than an override may last. */
export function isBreakingGlass(breakGlass: BreakGlass | undefined, nowMs: number): breakGlass is BreakGlass {
  return breakGlass !== undefined && breakGlass.untilMs > nowMs && !isTooLong(breakGlass, nowMs)
}

/** Why one is not in force: it is over, or it was asked for longer than it may last. */
export function explainIgnoredGlass(breakGlass: BreakGlass, nowMs: number): string {
  const { by, untilMs } = breakGlass
  return isTooLong(breakGlass, nowMs)
    ? `break-glass by ${by} until ${rfc3339(untilMs)} is ignored: it may last ${durationText(longestBreakGlassMs)} at most`
    : `break-glass by ${by} ended at ${rfc3339(untilMs)} and is ignored`
}

function isTooLong({ untilMs }: BreakGlass, nowMs: number): boolean {
  return untilMs - nowMs > longestBreakGlassMs + clockSlackMs
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
