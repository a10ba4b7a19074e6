import type { CephMap } from '../safety/ceph-map.ts'
import { domainsOf, failureDomainTypeOf } from '../safety/failure-domain.ts'
import { buildSlackHypergraph } from '../safety/slack-hypergraph.ts'
import { assumeDown } from './assume-down.ts'
import { createRollingWindow } from './next-starts.ts'
import { planRounds, type RoundPlan } from './plan-rounds.ts'
import type { recheckRound } from './recheck-round.ts'
import type { UpdateSettings } from './update-settings.ts'

export interface StartInput {
  readonly map: CephMap
  readonly settings: UpdateSettings
  /** To be updated, and neither on their way nor shaky. */
  readonly pending: readonly number[]
  /** To be updated, but their pods are not ready: they count as down for others, and as up for themselves. */
  readonly shaky: readonly number[]
  /** On their way, and to be updated once more. */
  readonly again: readonly number[]
  /** All that are gone or may be gone at any moment, whatever Ceph says. */
  readonly away: ReadonlySet<number>
  /** At most so many more may be on their way. */
  readonly room: number
  /** How many the canary lets begin beside none; undefined when the ramp is over or was never asked for. */
  readonly ramp: number | undefined
  /** Whether something is on its way that has to come back before a round ends. */
  readonly isRoundOpen: boolean
}

export interface ChosenStarts {
  readonly start: readonly number[]
  /** Which could not stop now even alone, with all that is on its way. */
  readonly blocked: RoundPlan['blocked']
  readonly roundsLeft: number
  readonly lowerBound: number
  /** Why the second reckoning refuses what the first one chose. */
  readonly disagreement?: string
}

/**
 * Which OSDs may be updated now.
 *
 * Guarantees: only pending ones; together with all that is away they leave every placement group its floor, by two reckonings; no
 * more than there is room for.
 * Fails closed: when the two differ nothing starts.
 */
export function chooseStarts(input: StartInput, recheck: typeof recheckRound): ChosenStarts {
  const { map, settings, away } = input
  const around = assumeDown(map, away)
  const plan = planRounds({
    map: around,
    targets: input.pending,
    maxParallel: Math.max(input.room, 1),
    reserve: settings.reserve,
    order: settings.order,
    canary: input.ramp === 1,
    // With OSDs on their way the plan is made anew on every return: the order is good enough without the search.
    ...(away.size > 0 && { mayGoOn: () => false }),
  })
  const unready = unreadyStarts(input)
  const fresh = freshStarts(input, plan, around, input.room - unready.taken)
  const start = [...unready.start, ...fresh].sort((a, b) => a - b)
  const result = {
    blocked: [...plan.blocked, ...unready.blocked].sort((a, b) => a.osd - b.osd),
    roundsLeft: plan.rounds.length,
    lowerBound: plan.lowerBound.rounds,
  }
  if (start.length === 0) return { ...result, start }
  const disagreement = secondOpinion(input, around, { fresh, unready: unready.start, recheck })
  return disagreement === undefined ? { ...result, start } : { ...result, start: [], disagreement }
}

function freshStarts(input: StartInput, plan: RoundPlan, around: CephMap, room: number): readonly number[] {
  const { settings, ramp } = input
  if (room < 1) return []
  const [first = []] = plan.rounds
  const isBarrier = ramp !== undefined || settings.pace === 'barrier' || settings.soakSeconds > 0
  if (isBarrier) return input.isRoundOpen ? [] : first.slice(0, Math.min(room, ramp ?? room))
  const rounds = settings.order === 'by-domain' ? roundsOfOneDomain(input, plan) : plan.rounds
  if (rounds.length === 0) return []
  const hypergraph = buildSlackHypergraph({ map: around, targets: rounds.flat(), reserve: settings.reserve })
  return createRollingWindow({ hypergraph, plan: { rounds }, maxParallel: room }).start()
}

/** Without barrier, what comes back must not let the next domain begin while others of this one are still to be done. */
function roundsOfOneDomain(
  { map, away, isRoundOpen }: StartInput,
  { rounds }: RoundPlan,
): readonly (readonly number[])[] {
  const { type } = failureDomainTypeOf(map)
  const domainOf = new Map<number, string>()
  for (const [domain, osds] of domainsOf(map, type).osdsByDomain) for (const id of osds) domainOf.set(id, domain)
  const open = new Set(isRoundOpen ? [...away].map((id) => domainOf.get(id)) : [domainOf.get(rounds[0]?.[0] ?? -1)])
  if (open.size !== 1) return []
  return rounds.map((round) => round.filter((id) => open.has(domainOf.get(id)))).filter((round) => round.length > 0)
}

/**
 * Those whose own pods are not ready. Each is judged as if it still served while all others like it were gone: so whichever of them
 * are chosen, no placement group counts on one that may not be there.
 */
function unreadyStarts({ map, settings, again, shaky, away, room }: StartInput): {
  readonly start: readonly number[]
  readonly blocked: RoundPlan['blocked']
  /** How much room they need: those that are on their way already need none. */
  readonly taken: number
} {
  if (again.length === 0 && shaky.length === 0) return { start: [], blocked: [], taken: 0 }
  const isAgain = new Set(again)
  const targets = new Set([...again, ...shaky])
  const others = new Set([...away].filter((id) => !targets.has(id)))
  const graph = buildSlackHypergraph({ map: assumeDown(map, others), targets, reserve: settings.reserve })
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

function secondOpinion(
  { map, away, settings }: StartInput,
  around: CephMap,
  given: {
    readonly fresh: readonly number[]
    readonly unready: readonly number[]
    readonly recheck: typeof recheckRound
  },
): string | undefined {
  const { fresh, unready } = given
  const others = new Set([...away].filter((id) => !unready.includes(id)))
  for (const [where, osds] of [
    [around, fresh],
    [assumeDown(map, others), unready],
  ] as const) {
    if (osds.length === 0) continue
    const check = given.recheck({ map: where, osds, reserve: settings.reserve })
    if (!check.isSafe) return check.why
  }
  return undefined
}
