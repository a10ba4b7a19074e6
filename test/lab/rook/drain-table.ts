import type { CrashStory } from './crash-story.ts'
import type { DrainStory } from './drain-story.ts'

/** All runs beside one of the two. */
export interface Measured {
  readonly drains: readonly DrainStory[]
  readonly crashes: readonly CrashStory[]
  readonly violations: readonly string[]
}

/** The table of both, as docs/reference/beside-rook.md has it. */
export function drainTable(command: string, rook: Measured, cofferdam: Measured): string {
  const row = (what: string, show: (of: Measured) => string) => `| ${what} | ${show(rook)} | ${show(cofferdam)} |`
  const drains = (show: (of: DrainStory) => number) => (of: Measured) => seconds(of.drains.map(show))
  const sum = (count: (of: DrainStory) => number) => (of: Measured) =>
    `${of.drains.reduce((total, each) => total + count(each), 0)} of ${2 * of.drains.length}`
  const crashes = [
    row('power cut until no OSD of another rack may go', ({ crashes: all }) =>
      seconds(all.map(({ heldAfter }) => heldAfter)),
    ),
    row('longest stall of a client, power cut', ({ crashes: all }) =>
      seconds(all.map(({ longestStall }) => longestStall)),
    ),
  ]
  return [
    `| ${command} | Rook | Cofferdam |`,
    '|---|---|---|',
    row(
      'first eviction until every other rack is blocked and the drained one goes on',
      drains((story) => story.blockedAfter),
    ),
    row(
      'drains ended',
      sum(({ ended }) => ended),
    ),
    row(
      'first drain',
      drains((story) => story.firstEndedAfter),
    ),
    row(
      'second drain, after the first node was uncordoned',
      drains((story) => story.lastEndedAfter),
    ),
    row(
      'one budget for all OSDs again, after the last uncordon',
      drains((story) => story.calmAfter),
    ),
    row(
      'longest stall of a client',
      drains((story) => story.longestStall),
    ),
    row(
      'drains that failed because two budgets covered one pod',
      sum((story) => story.begunAgain),
    ),
    row('violations seen by the oracle', ({ violations }) => String(violations.length)),
    ...(rook.crashes.length + cofferdam.crashes.length === 0 ? [] : crashes),
  ].join('\n')
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function seconds(values: readonly number[]): string {
  return values.map((each) => (Number.isNaN(each) ? 'never' : `${each.toFixed(1)} s`)).join(', ')
}
