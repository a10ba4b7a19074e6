import type { CrashMoment } from '../testing/cut-line.ts'
import type { CrashPoint } from '../testing/staged-operators.ts'
import type { CrashRun } from './crash-scenario.ts'

const moments: readonly CrashMoment[] = ['before', 'unheard', 'heard']
const restarts = ['fresh', 'stale'] as const

/** Every point at which the operator of a reference run may die: each of its writes, in each of three moments, followed by either process. */
export function pointsOf(reference: CrashRun): CrashPoint[] {
  return reference.written.flatMap((_, index) =>
    moments.flatMap((moment) => restarts.map((restart) => ({ write: index + 1, moment, restart }))),
  )
}

/** `17/unheard/stale`. */
export function pointText({ write, moment, restart }: CrashPoint): string {
  return `${write}/${moment}/${restart}`
}

export function parsePoint(text: string): CrashPoint | undefined {
  const [write = '', moment, restart] = text.split('/')
  const known = moments.find((one) => one === moment)
  const after = restarts.find((one) => one === restart)
  if (!/^[1-9]\d*$/.test(write) || known === undefined || after === undefined) return undefined
  return { write: Number(write), moment: known, restart: after }
}

/** What is wrong with a run that nothing befell. */
export function faultsOfReference({ broke, violations, written }: CrashRun): string[] {
  if (broke !== undefined) return [`it does not come to its end: ${broke}`]
  return written.length === 0
    ? ['the operator writes nothing, so there is nothing to try', ...violations]
    : [...violations]
}

/** What is wrong with a run in which the operator died: nothing, if it came to the end of the reference without harm. */
export function faultsOfRun(reference: CrashRun, run: CrashRun, point: CrashPoint): string[] {
  const faults = [...run.violations]
  if (!run.hasDied) faults.push(`the operator lived on: it came to ${run.written.length} writes`)
  const before = run.written.slice(0, point.write)
  if (before.join('\n') !== reference.written.slice(0, point.write).join('\n')) {
    faults.push('its writes until then are not those of the reference run')
  }
  if (run.broke !== undefined) return [...faults, `it did not come to its end: ${run.broke}`]
  const missing = reference.end.filter((line) => !run.end.includes(line)).map((line) => `missing in the end: ${line}`)
  const added = run.end.filter((line) => !reference.end.includes(line)).map((line) => `there in the end: ${line}`)
  return [...faults, ...missing, ...added]
}
