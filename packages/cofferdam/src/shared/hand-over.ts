import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Observed } from './observed.ts'

/** `adopt`: to Cofferdam. `release`: back to whoever had it. */
export type HandOverDirection = 'adopt' | 'release'

export interface HandOverCheck {
  readonly what: string
  readonly state: 'ok' | 'warning' | 'blocked'
  readonly says: string
  readonly wayOut?: string
}

/** What a hand-over of any kind comes to, decided from what is there alone: an interrupted one goes on where it stopped. */
export interface HandOverPlan {
  readonly checks: readonly HandOverCheck[]
  /** The one change of the object that says who is in charge, as a merge patch; absent where it says so already. */
  readonly patch?: JsonObject
  /** The same in words. */
  readonly changes: readonly string[]
  /** What is missing until the hand-over is done. */
  readonly pending: readonly string[]
}

interface WayOut {
  readonly wayOut?: string
}

export function ok(what: string, says: string): HandOverCheck {
  return { what, state: 'ok', says }
}

export function warning(what: string, says: string, { wayOut }: WayOut = {}): HandOverCheck {
  return { what, state: 'warning', says, ...(wayOut === undefined ? {} : { wayOut }) }
}

export function blocked(what: string, says: string, { wayOut }: Required<WayOut>): HandOverCheck {
  return { what, state: 'blocked', says, wayOut }
}

/** Undefined: its lease may not be read. */
export function operatorCheck(isOperatorRunning: boolean | undefined): HandOverCheck {
  return isOperatorRunning === false
    ? blocked('operator', 'no operator runs', { wayOut: 'cofferdam status; kubectl -n cofferdam-system get pods' })
    : ok('operator', isOperatorRunning === undefined ? 'its lease may not be read' : 'runs')
}

/** Without its rights the operator can give nothing back either, but to stop there would leave everything in between. */
export function rightsCheck(
  missingRights: Observed<readonly string[]>,
  { direction, wayOut }: { readonly direction: HandOverDirection; readonly wayOut: string },
): HandOverCheck {
  if (!missingRights.known) {
    return warning('rights', `whether the operator has them is not known: ${missingRights.why}`)
  }
  if (missingRights.value.length === 0) return ok('rights', 'the operator has all it needs here')
  const says = `the operator may not ${missingRights.value.join(', ')}`
  return direction === 'adopt' ? blocked('rights', says, { wayOut }) : warning('rights', says, { wayOut })
}

/** Which annotations differ from what is wanted, and the same in words; null: it should not be there. */
export function annotationChanges(
  present: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string | null>>,
): { readonly annotations: Readonly<Record<string, string | null>>; readonly changes: readonly string[] } {
  const different = Object.entries(wanted).filter(([key, value]) => (present[key] ?? null) !== value)
  return {
    annotations: Object.fromEntries(different),
    changes: different.map(([key, value]) =>
      value === null ? `annotation ${key} removed` : `annotation ${key}: ${value}`,
    ),
  }
}
