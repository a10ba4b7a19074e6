/**
 * What the state of a placement group proves about the copies that its acting set holds.
 *
 * - `complete`: every acting OSD holds everything. Also `undersized+degraded`: the absent copies are the missing ones.
 * - `moving`: as `complete`, and a backfill may put the `up` set in place of the acting set at any time.
 * - `doubtful`: some acting OSD may lack objects, and the state does not say which (recovery, inconsistency, a flag that
 *   is new to us).
 * - `inactive`: no client is served, or nobody answers for it any more; whatever its members hold, it must not lose more.
 * - `unseen`: nobody has reported it, so nobody knows whose it is.
 */
export type PgEvidence = 'complete' | 'moving' | 'doubtful' | 'inactive' | 'unseen'

const harmless = new Set([
  'active',
  'clean',
  'scrubbing',
  'deep',
  'snaptrim',
  'snaptrim_wait',
  'snaptrim_error',
  'remapped',
  'undersized',
  'degraded',
  'laggy',
  'wait',
])
/** Targets of a backfill are no acting members until they are complete, and log recovery comes before backfill. */
const movingFlags = new Set(['backfilling', 'backfill_wait', 'backfill_toofull', 'forced_backfill'])

/** Fails closed: a flag that is not known to be harmless makes an active placement group `doubtful`. */
export function pgEvidenceOf(state: string): PgEvidence {
  const flags = new Set(state.split('+'))
  if (state === '' || flags.has('unknown')) return 'unseen'
  if (!flags.has('active') || flags.has('stale')) return 'inactive'
  if (flags.has('degraded') && !flags.has('undersized')) return 'doubtful'
  let evidence: PgEvidence = 'complete'
  for (const flag of flags) {
    if (movingFlags.has(flag)) evidence = 'moving'
    else if (!harmless.has(flag)) return 'doubtful'
  }
  return evidence
}

/** Flags that stay until somebody repairs, frees space or brings disks back. */
const lastingFlags = new Set([
  'inconsistent',
  'failed_repair',
  'recovery_toofull',
  'recovery_unfound',
  'backfill_toofull',
  'backfill_unfound',
])
/** Flags that end by themselves. */
const passingFlags = new Set(['recovering', 'recovery_wait', 'forced_recovery', 'repair', 'premerge'])

/**
 * Whether a placement group is in doubt until somebody does something about it: days, where a recovery takes minutes. A flag that
 * is new to us counts as lasting, since nobody knows what would end it.
 */
export function isLastingDoubt(state: string): boolean {
  const flags = state.split('+')
  return (
    pgEvidenceOf(state) === 'doubtful' &&
    flags.some(
      (flag) => lastingFlags.has(flag) || !(harmless.has(flag) || movingFlags.has(flag) || passingFlags.has(flag)),
    )
  )
}

/**
 * Whether nothing of this placement group gets better by waiting: it is in lasting doubt, or out of reach for good, and nothing of it
 * moves.
 */
export function isStandingStill(state: string): boolean {
  const flags = state.split('+')
  if (flags.includes('stale')) return false
  if (flags.some((flag) => isMoving(flag))) return false
  return (
    isLastingDoubt(state) ||
    flags.includes('incomplete') ||
    (flags.includes('active') && flags.includes('backfill_toofull'))
  )
}

/** Whether all copies are where they belong, although the state is not one of a healthy placement group. */
export function hasAllCopies(state: string): boolean {
  const flags = state.split('+')
  return isStandingStill(state) && flags.includes('active') && flags.includes('clean')
}

function isMoving(flag: string): boolean {
  return flag === 'recovering' || flag === 'recovery_wait' || flag === 'backfilling' || flag === 'backfill_wait'
}
