import type { CephMap } from '../../../safety/ceph-map.ts'
import { buildSlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import type { BatchProposal } from './batch-proposal.ts'
import type { ChosenStarts } from './chosen-starts.ts'
import { createRollingWindow } from './next-starts.ts'
import type { recheckRound } from './recheck-round.ts'
import type { CephChoice, StartInput } from './start-input.ts'
import { stoppableOsds } from './stoppable-osds.ts'

/**
 * The conservative way: Ceph itself names the batch, one batch after the other.
 *
 * Guarantees: of what Ceph names only those start that need an update and that our own reckoning lets stop together; when it
 * names a set that our reckoning refuses, or refuses all that our reckoning allows, nothing starts and that is reported.
 */
export function proposedStarts(
  input: StartInput,
  given: CephChoice & {
    /** With all that is away taken for down. */
    readonly around: CephMap
    readonly room: number
    readonly recheck: typeof recheckRound
  },
): ChosenStarts {
  const { map, settings, pending, running, ramp } = input
  const { by, version, updated, proposal } = given
  const many = Math.min(given.room, ramp ?? given.room)
  const rounds = (atOnce: number) => Math.ceil(pending.length / Math.max(atOnce, 1))
  const roundCounts = { roundsLeft: rounds(running.length), lowerBound: rounds(running.length + given.room) }
  if (running.length > 0 || many < 1 || pending.length === 0) return { ...roundCounts, start: [], blocked: [] }

  const graph = buildSlackHypergraph({
    map: given.around,
    targets: pending,
    reserve: settings.reserve,
    sites: map.sites ?? [],
  })
  const { blocked } = graph
  const mayGo = [...graph.osds]
  const asked = stoppableOsds(given.around, mayGo)
  const isAsked = new Set(asked)
  const rest = mayGo.filter((osd) => !isAsked.has(osd)).slice(0, many)
  if (rest.length > 0 || asked.length === 0) return { ...roundCounts, blocked, start: rest }
  if (proposal === undefined) {
    const ask = { by, osds: asked, max: many, updated, ...(version !== undefined && { version }) }
    return { ...roundCounts, blocked, start: [], ask }
  }
  if (!proposal.known) return { ...roundCounts, blocked, start: [], silence: proposal.why }
  const objection = objectionTo(proposal.value, map, given.recheck)
  if (objection !== undefined) return { ...roundCounts, blocked, start: [], ...objection }
  const named = new Set(proposal.value.osds)
  const plan = { rounds: [mayGo.filter((osd) => named.has(osd))] }
  const start = [...createRollingWindow({ hypergraph: graph, plan, maxParallel: many }).start()]
  return { blocked, start, roundsLeft: rounds(start.length), lowerBound: roundCounts.lowerBound }
}

/** Held against the map as Ceph has it: what only we know of (a reserve, a pod that is not ready) is no disagreement. */
function objectionTo(
  { by, osds, asked }: BatchProposal,
  map: CephMap,
  recheck: typeof recheckRound,
): Pick<ChosenStarts, 'cephDisagrees' | 'doubt'> | undefined {
  if (osds.length === 0) {
    return {
      cephDisagrees: `ceph osd ${by} refuses ${namesOf(asked)}, each of which is safe to stop by Cofferdam's calculation`,
    }
  }
  const check = recheck({ map, osds: stoppableOsds(map, osds) })
  if (check.isSafe) return undefined
  if (check.isUnsure === true) return { doubt: check.why }
  return {
    cephDisagrees: `ceph osd ${by} calls ${namesOf(osds)} safe to stop together, and Cofferdam's calculation refuses: ${check.why}`,
  }
}

const mostNamed = 10

/** `osd.1, osd.2 and 3 more` */
export function namesOf(osds: readonly number[]): string {
  const named = osds.slice(0, mostNamed).map((osd) => `osd.${osd}`)
  const more = osds.length > named.length ? ` and ${osds.length - named.length} more` : ''
  return named.join(', ') + more
}
