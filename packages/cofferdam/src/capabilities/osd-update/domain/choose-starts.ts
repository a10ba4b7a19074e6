import type { CephMap, SiteRule } from '../../../safety/ceph-map.ts'
import { domainsOf, failureDomainTypeOf } from '../../../safety/failure-domain.ts'
import { unheardNewcomers } from '../../../safety/newcomers.ts'
import { buildSlackHypergraph, type SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import { assumeDown } from './assume-down.ts'
import type { ChosenStarts } from './chosen-starts.ts'
import { createRollingWindow } from './next-starts.ts'
import { planRounds, type RoundPlan } from './plan-rounds.ts'
import { proposedStarts } from './proposed-starts.ts'
import type { recheckRound } from './recheck-round.ts'
import type { StartInput } from './start-input.ts'
import { unreadyStarts } from './unready-starts.ts'

/**
 * Which OSDs may be updated now.
 *
 * Guarantees: only pending ones; together with all that is away they leave every placement group its floor, by two reckonings; no
 * more than there is room for.
 * Fails closed: when the two differ nothing starts.
 */
export function chooseStarts(given: StartInput, recheck: typeof recheckRound): ChosenStarts {
  const unheard = unheardNewcomers(given.map, [...given.pending, ...given.unready, ...given.again])
  const input = unheard.length === 0 ? given : withoutOsds(given, new Set(unheard.map(({ osd }) => osd)))
  const around = assumeDown(input.map, input.away)
  const unready = unreadyStarts(input)
  const room = input.room - unready.taken
  const { blocked, ...fresh } =
    input.cephChooses === undefined
      ? freshStarts(input, around, room)
      : proposedStarts(input, { ...input.cephChooses, around, room, recheck })
  const start = [...unready.start, ...fresh.start].sort((a, b) => a - b)
  const result = { ...fresh, blocked: [...blocked, ...unready.blocked, ...unheard].sort((a, b) => a.osd - b.osd) }
  if (start.length === 0) return { ...result, start }
  const disagreement = secondCheck(input, around, { fresh: fresh.start, unready: unready.start, recheck })
  return disagreement === undefined ? { ...result, start } : { ...result, start: [], disagreement }
}

function withoutOsds(input: StartInput, osds: ReadonlySet<number>): StartInput {
  const without = (ids: readonly number[]) => ids.filter((id) => !osds.has(id))
  const { pending, unready, again } = input
  return { ...input, pending: without(pending), unready: without(unready), again: without(again) }
}

function freshStarts(input: StartInput, around: CephMap, room: number): ChosenStarts {
  const { settings, ramp, pending, running } = input
  const isBarrier = ramp !== undefined || settings.pace === 'barrier' || settings.soakSeconds > 0
  if (running.length > 0) {
    if (isBarrier || pending.length === 0) return { start: [], blocked: [], ...roundsWithout(input, running.length) }
    return besideRunning(input, around, room)
  }
  const plan = planRounds({
    map: around,
    targets: pending,
    maxParallel: Math.max(room, 1),
    reserve: settings.reserve,
    sites: sitesOf(input),
    order: settings.order,
    canary: ramp === 1,
  })
  const { blocked, rounds, lowerBound } = plan
  const result = { blocked, roundsLeft: rounds.length, lowerBound: lowerBound.rounds, plan: rounds }
  if (room < 1 || rounds.length === 0) return { ...result, start: [] }
  if (isBarrier) return { ...result, start: firstOf(rounds).slice(0, Math.min(room, ramp ?? room)) }
  const hypergraph = buildSlackHypergraph({
    map: around,
    targets: rounds.flat(),
    reserve: settings.reserve,
    sites: sitesOf(input),
  })
  return { ...result, start: startsOf(input, hypergraph, { rounds, room }) }
}

/**
 * Without barrier, whatever has room starts, those with the fewest neighbours first, for they take least from others. Rounds are not
 * planned anew on every return: that would cost a large cluster more than it gains.
 */
function besideRunning(input: StartInput, around: CephMap, room: number): ChosenStarts {
  const { pending, settings, running } = input
  const hypergraph = buildSlackHypergraph({
    map: around,
    targets: pending,
    reserve: settings.reserve,
    sites: sitesOf(input),
  })
  const { osds, unitStarts, blocked } = hypergraph
  const edges = (unit: number) => (unitStarts[unit + 1] as number) - (unitStarts[unit] as number)
  const units = Array.from(osds, (_, unit) => unit).sort((a, b) => edges(a) - edges(b) || a - b)
  const start =
    room < 1 ? [] : startsOf(input, hypergraph, { rounds: [units.map((unit) => osds[unit] as number)], room })
  return { start, blocked, ...roundsWithout(input, running.length + start.length) }
}

function sitesOf({ map }: StartInput): readonly SiteRule[] {
  return map.sites ?? []
}

/** As many rounds as there would be with so many at a time. */
function roundsWithout(
  { pending, running, room }: StartInput,
  atOnce: number,
): Omit<ChosenStarts, 'start' | 'blocked'> {
  const rounds = (many: number) => Math.ceil(pending.length / Math.max(many, 1))
  return { roundsLeft: rounds(atOnce), lowerBound: rounds(running.length + room) }
}

function startsOf(
  input: StartInput,
  hypergraph: SlackHypergraph,
  { rounds, room }: { readonly rounds: RoundPlan['rounds']; readonly room: number },
): readonly number[] {
  const allowed = input.settings.order === 'by-domain' ? roundsOfOneDomain(input, rounds) : rounds
  return createRollingWindow({ hypergraph, plan: { rounds: allowed }, maxParallel: room }).start()
}

/** Without barrier, what comes back must not let the next domain begin while others of this one are still to be done. */
function roundsOfOneDomain({ map, running }: StartInput, rounds: RoundPlan['rounds']): RoundPlan['rounds'] {
  const { type } = failureDomainTypeOf(map)
  const domainOf = new Map<number, string>()
  for (const [domain, osds] of domainsOf(map, type).osdsByDomain) for (const id of osds) domainOf.set(id, domain)
  const open = new Set((running.length > 0 ? running : firstOf(rounds).slice(0, 1)).map((id) => domainOf.get(id)))
  if (open.size !== 1) return []
  return rounds.map((round) => round.filter((id) => open.has(domainOf.get(id)))).filter((round) => round.length > 0)
}

/** Assumes: there is one. */
function firstOf(rounds: RoundPlan['rounds']): readonly number[] {
  return rounds[0] as readonly number[]
}

function secondCheck(
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
    const check = given.recheck({ map: where, osds, reserve: settings.reserve, sites: map.sites ?? [] })
    if (!check.isSafe) return check.why
  }
  return undefined
}
