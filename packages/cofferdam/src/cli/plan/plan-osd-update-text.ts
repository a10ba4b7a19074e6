import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import type { OtherWays } from '../../capabilities/osd-update/domain/compare-ways.ts'
import type { LowerBound } from '../../capabilities/osd-update/domain/lower-bound.ts'
import type { BlockedOsd } from '../../safety/slack-hypergraph-blocks.ts'
import type { Paint } from '../../shared/paint.ts'
import { renderTable } from '../table.ts'

/** What `-o json` prints; its fields are documented and stay. */
export interface OsdUpdatePlan {
  /** Ids of the OSDs that stop together, ascending. */
  readonly rounds: readonly (readonly number[])[]
  readonly lowerBound: LowerBound
  readonly rookRounds: number
  readonly cpuSeconds: number
  readonly blocked: readonly BlockedOsd[]
}

export interface OsdUpdateResult {
  readonly plan: OsdUpdatePlan
  readonly ways: OtherWays
  readonly how: string
  readonly osdCount: number
  readonly maxParallel: number
  /** As it was given: `15%` */
  readonly limit: string
  readonly reserve: number
  readonly domainOf: ReadonlyMap<number, string>
}

const restartSeconds = 60
const peeringSeconds = 30
const shownRounds = 10
const shownBlocked = 20
const shownDomains = 4
const shownIds = 12

export function renderOsdUpdate(result: OsdUpdateResult, paint: Paint): string {
  const { plan, ways, maxParallel, limit, reserve } = result
  const { rounds, lowerBound, blocked } = plan
  const planned = result.osdCount - blocked.length
  const perRound = restartSeconds + peeringSeconds
  const isLeast = rounds.length === lowerBound.rounds
  const share = limit.endsWith('%') ? ` (${limit})` : ''
  const stuck = ways.rookStuck === 0 ? '' : `, and never ends: ${counted(ways.rookStuck, 'OSD')} may not stop`
  const lines = [
    `${counted(planned, 'OSD')} in ${paint('bold', counted(rounds.length, 'round'))}`,
    '',
    `  limit         ${maxParallel} in parallel${share}${reserve === 0 ? '' : `, ${counted(reserve, 'copy', 'copies')} kept beyond min_size`}`,
    `  lower bound   ${counted(lowerBound.rounds, 'round')}${isLeast ? ', so no plan is shorter' : ''}: ${lowerBound.why}`,
    `  found by      ${result.how} (${plan.cpuSeconds} s of CPU)`,
    `  by hand       ${counted(ways.domainRounds, 'round')}, ${ways.domainType} by ${ways.domainType}`,
    `  Rook's way    ${counted(ways.rookRounds, 'round')}, at most ${ways.rookMax} in parallel${stuck}`,
    `  time          about ${durationText(rounds.length * perRound * 1000)}; an estimate: ${restartSeconds} s restart and ${peeringSeconds} s peering per round`,
  ]
  if (rounds.length > 0) lines.push('', roundTable(result))
  if (rounds.length > shownRounds) {
    lines.push(paint('dim', `and ${counted(rounds.length - shownRounds, 'more round')}; -o json has them all`))
  }
  if (blocked.length > 0) {
    lines.push('', `${paint('red', `${counted(blocked.length, 'OSD')} must not stop now`)}`, blockedTable(blocked))
    if (blocked.length > shownBlocked) {
      lines.push(paint('dim', `and ${blocked.length - shownBlocked} more; -o json has them all`))
    }
  }
  return lines.join('\n')
}

function roundTable({ plan, ways, domainOf }: OsdUpdateResult): string {
  const rows = plan.rounds.slice(0, shownRounds).map((osds, at) => {
    const domains = [...new Set(osds.map((id) => domainOf.get(id) ?? `no ${ways.domainType}`))].sort()
    return [
      String(at + 1),
      String(osds.length),
      shortened(osds.map(String), shownIds),
      shortened(domains, shownDomains),
    ]
  })
  return renderTable(['ROUND', 'OSDS', 'IDS', `${ways.domainType.toUpperCase()}S`], rows)
}

function blockedTable(blocked: readonly BlockedOsd[]): string {
  return renderTable(
    ['OSD', 'WHY'],
    blocked.slice(0, shownBlocked).map(({ osd, why }) => [`osd.${osd}`, why]),
  )
}

/** The first few, and how many more. */
function shortened(names: readonly string[], shown: number): string {
  if (names.length <= shown) return names.join(' ')
  return `${names.slice(0, shown).join(' ')} and ${names.length - shown} more`
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
