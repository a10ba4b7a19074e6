import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/** The same intention is told again after so long, with how often it came meanwhile. */
const againMs = 10 * 60_000
/** More of them are not told apart; those that came first are forgotten first, and told anew. */
const mostRemembered = 5_000

/** One write of a dry run; Events have a new name each time, and count by what they are about. */
type Intention = Readonly<Record<string, unknown>>

/**
 * Tells in the log what a dry run would write. What is not stored is wanted again in every pass, beside an operator that leads several
 * times a second: each intention is told once, and then every ten minutes for as long as it lasts.
 */
export function intendedWrites(
  log: { readonly info: (facts: object, says: string) => void },
  clock: Clock,
): (intention: Intention, says: string) => void {
  const told = new Map<string, { readonly atMs: number; repeats: number }>()
  return (intention, says) => {
    const key = keyOf(intention, says)
    const before = told.get(key)
    if (before !== undefined && isWithin(clock.now(), before.atMs, againMs)) {
      before.repeats += 1
      return
    }
    told.delete(key)
    if (told.size >= mostRemembered) for (const oldest of [...told.keys()].slice(0, 1)) told.delete(oldest)
    told.set(key, { atMs: clock.now(), repeats: 0 })
    const repeats = before?.repeats ?? 0
    log.info({ ...intention, ...(repeats === 0 ? {} : { repeats }) }, `dry run: ${says}`)
  }
}

function keyOf(intention: Intention, says: string): string {
  const { name, ...place } = intention
  return JSON.stringify([says, intention['resource'] === 'events' ? place : { name, ...place }])
}
