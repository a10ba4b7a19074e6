import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { assumeDown } from './assume-down.ts'
import type { RoundPlan } from './plan-rounds.ts'
import type { StartInput } from './start-input.ts'

/**
 * Those whose own pods are not ready. Each is judged as if it still served while all others like it were gone: so whichever of them
 * are chosen, no placement group counts on one that may not be there.
 */
export function unreadyStarts({ map, settings, again, unready, away, room }: StartInput): {
  readonly start: readonly number[]
  readonly blocked: RoundPlan['blocked']
  /** How much room they need: those that are restarting already need none. */
  readonly taken: number
} {
  if (again.length === 0 && unready.length === 0) return { start: [], blocked: [], taken: 0 }
  const isAgain = new Set(again)
  const targets = new Set([...again, ...unready])
  const others = new Set([...away].filter((id) => !targets.has(id)))
  const graph = buildSlackHypergraph({
    map: assumeDown(map, others),
    targets,
    reserve: settings.reserve,
    sites: map.sites ?? [],
  })
  const start: number[] = []
  const blocked = [...graph.blocked]
  let taken = 0
  for (const [unit, osd] of graph.osds.entries()) {
    const isBound = graph.unitStarts[unit] !== graph.unitStarts[unit + 1]
    if (isBound) blocked.push({ osd, why: 'its placement groups have other OSDs whose pods are not ready' })
    else if (isAgain.has(osd)) start.push(osd)
    else if (taken < room) {
      start.push(osd)
      taken += 1
    }
  }
  return { start, blocked, taken }
}
