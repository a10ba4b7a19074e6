import type { OsdUpdateDecision, UpdateProgress } from './decision.ts'
import { osdCount } from './update-words.ts'

/** An OSD that was to start, and was not touched. */
export interface NeverBegun {
  readonly osd: number
  readonly why: string
  /** Somebody keeps its pod where it is; otherwise it is decided anew at once. */
  readonly isHeld: boolean
}

/** After a refusal, when no event will say that it is over. */
const recheckSeconds = 15

/** The progress before anything that was decided is done. `running`: those that are restarting already. */
export function beforeStarts(
  { progress, start }: Pick<OsdUpdateDecision, 'progress' | 'start'>,
  running: readonly number[],
): UpdateProgress {
  return withoutOsds(progress, new Set(start.filter((osd) => !running.includes(osd))))
}

/**
 * The decision as it was carried out.
 *
 * Guarantees: no OSD is said to be restarting, or to start, that was not touched.
 */
export function withoutNeverBegun(
  decision: OsdUpdateDecision,
  unbegun: readonly NeverBegun[],
  running: readonly number[],
): OsdUpdateDecision {
  if (unbegun.length === 0) return decision
  const osds = new Set(unbegun.map(({ osd }) => osd))
  const start = decision.start.filter((osd) => !osds.has(osd))
  const progress = withoutOsds(decision.progress, new Set([...osds].filter((osd) => !running.includes(osd))))
  const held = unbegun.filter(({ isHeld }) => isHeld)
  const blocked = [...decision.blocked, ...held.map(({ osd, why }) => ({ osd, why }))].sort((a, b) => a.osd - b.osd)
  const done = { ...decision, start, progress, blocked }
  const [first] = held
  if (first === undefined || progress.running.length > 0) return done
  return {
    ...done,
    reason: 'OsdUpdateBlocked',
    explanation: `${osdCount(progress.waiting)} to update, none can stop now (osd.${first.osd}: ${first.why})`,
    recheckAfterSeconds: recheckSeconds,
  }
}

function withoutOsds(progress: UpdateProgress, osds: ReadonlySet<number>): UpdateProgress {
  const running = progress.running.filter((osd) => !osds.has(osd))
  return { ...progress, running, waiting: progress.waiting + progress.running.length - running.length }
}
