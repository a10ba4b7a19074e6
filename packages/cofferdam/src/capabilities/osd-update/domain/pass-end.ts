import { paceLast } from './decide-pace.ts'
import type { OsdUpdateDecision } from './decision.ts'
import type { HeardInPass, UpdatePassSnapshot } from './pass-snapshot.ts'
import { recordSteps } from './record-steps.ts'
import { releaseRecheckSeconds } from './release-check.ts'
import type { HoldStep, UpdateStep } from './steps.ts'
import type { StartNotes } from './stored-update.ts'

/** A label that somebody else's write kept from being written is written then. */
const soonSeconds = 2

export interface UpdatePassDecision {
  /** In the order in which they are performed. */
  readonly steps: readonly UpdateStep[]
  /** When to reconcile again although nothing changed; undefined: only on a change. */
  readonly recheckAfterSeconds: number | undefined
  /** Nothing differs and no OSD is restarting, or what was remembered cannot be read. */
  readonly isAtRest?: true
  /** What went wrong and is not about an OSD: reported as the failure of the pass. */
  readonly trouble?: unknown
}

/** Its answer leads on: all is decided again. */
export function asking(...steps: readonly UpdateStep[]): UpdatePassDecision {
  return { steps, recheckAfterSeconds: undefined }
}

/** What is wanted of the ledger, unless it is held already. */
export function needsHold(
  { isClaimHeld, heard }: Pick<UpdatePassSnapshot, 'isClaimHeld' | 'heard'>,
  { claim }: OsdUpdateDecision,
): HoldStep[] {
  if (claim?.wants !== 'hold' || isClaimHeld) return []
  return [{ do: 'hold', hold: 'acquire', claim, attempt: attemptsOf(heard) + 1 }]
}

function attemptsOf({ hold }: HeardInPass): number {
  return hold?.refusals ?? 0
}

export interface PassEnd {
  readonly decision: OsdUpdateDecision
  readonly notes: StartNotes
  /** No OSD is restarting that the storage is to be held for. */
  readonly isIdle: boolean
  /** Pods that were refused. */
  readonly held?: readonly { readonly uid: string; readonly why: string }[]
  readonly trouble?: unknown
}

/** Everything is done that is to be done: it is recorded and reported, and the hold is released or renewed. */
export function closing(pass: UpdatePassSnapshot, end: PassEnd): UpdatePassDecision {
  const { seen, stored, heard, problems, wakeAfterSeconds } = pass
  const { decision, notes, isIdle, held = [], trouble } = end
  const isOver = decision.claim?.wants === 'release' || isIdle
  const reported = heard.unsettled === undefined ? problems : [...problems, heard.unsettled]
  const steps = recordSteps(stored, seen.cluster, { record: decision.record, starts: notes, decision })
  const last = paceLast(pass, decision)
  steps.push(...last)
  const unset = decision.noout?.unset ?? []
  if (unset.length > 0) steps.push({ do: 'write', write: 'flags', noout: { set: [], unset } })
  if (heard.unsettled === undefined) steps.push({ do: 'hold', hold: isOver ? 'release' : 'keep' })
  if (held.length > 0) steps.push({ do: 'report', report: 'held', pods: held })
  if (trouble === undefined) steps.push({ do: 'report', report: 'decision', decision, problems: reported })
  return {
    steps,
    recheckAfterSeconds: soonest(
      decision.recheckAfterSeconds,
      wakeAfterSeconds,
      last.length > 0 ? soonSeconds : undefined,
      decision.record.release?.lag === undefined ? undefined : releaseRecheckSeconds,
    ),
    ...(trouble !== undefined && { trouble }),
  }
}

/** Notes on OSDs that are restarting, and on those that were given up and may still return. */
export function notesOf(
  notes: StartNotes,
  running: readonly number[],
  { record }: Pick<OsdUpdateDecision, 'record'>,
): StartNotes {
  const kept = new Set([...running, ...record.failed.map(({ osd }) => osd)])
  return new Map([...notes].filter(([osd]) => kept.has(osd)))
}

export function soonest(...rechecks: readonly (number | undefined)[]): number | undefined {
  const due = rechecks.filter((seconds) => seconds !== undefined)
  return due.length === 0 ? undefined : Math.min(...due)
}
