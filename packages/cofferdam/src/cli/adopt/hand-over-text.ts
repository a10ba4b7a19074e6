import type { Paint } from '../../shared/paint.ts'
import type { HandOverResult } from './hand-over-result.ts'

const words = {
  planned: ['cyan', 'planned'],
  blocked: ['red', 'blocked'],
  done: ['green', 'done'],
  unprotected: ['red', 'done with a gap'],
  'timed-out': ['yellow', 'not done yet'],
  interrupted: ['yellow', 'interrupted'],
} as const
const colours = { ok: 'green', warning: 'yellow', blocked: 'red' } as const

export function renderHandOver(result: HandOverResult, paint: Paint): string {
  const { object, direction, outcome, checks, changes, pending, protection } = result
  const [colour, word] = words[outcome]
  // Before anything is changed all of it is still to come.
  const missing = outcome === 'planned' || outcome === 'blocked' ? [] : pending
  return [
    `${paint('bold', object)}  ${paint(colour, word)}: ${summaryOf(result)}`,
    '',
    ...checks.map(
      ({ what, state, says, wayOut }) =>
        `  ${what.padEnd(10)}${paint(colours[state], state)}: ${says}${wayOut === undefined ? '' : ` (${wayOut})`}`,
    ),
    ...changes.map((change) => `  change    ${change}`),
    ...missing.slice(0, 5).map((each) => `  missing   ${each}`),
    ...(missing.length > 5 ? [`  missing   ${missing.length - 5} more`] : []),
    ...(protection === undefined
      ? []
      : [
          `  budgets   ${momentsText(protection.moments.length)} without protection, in ${protection.changesSeen} states that were judged`,
          ...protection.moments.slice(0, 5).map(({ at, osds }) => `  gap       ${at}: ${osds.join(', ')}`),
          ...(protection.interruptions === 0
            ? []
            : [`  watch     interrupted ${protection.interruptions} times: changes in between were not judged`]),
        ]),
    ...(outcome === 'timed-out' || outcome === 'interrupted'
      ? [`  next      cofferdam ${direction} ${object} continues; cofferdam explain ${object} shows the state`]
      : []),
  ].join('\n')
}

function momentsText(count: number): string {
  return count === 1 ? '1 moment' : `${count} moments`
}

function summaryOf({ to, outcome, protection, checks }: HandOverResult): string {
  switch (outcome) {
    case 'planned':
      return 'nothing is changed by --dry-run.'
    case 'blocked':
      return `${checks.filter(({ state }) => state === 'blocked').length} checks failed; nothing is changed.`
    case 'done':
      return to === 'no operator' ? "Cofferdam's budgets are removed." : `the budgets are handed over to ${to}.`
    case 'unprotected':
      return `OSDs had no budget in ${momentsText(protection?.moments.length ?? 0)}.`
    default:
      return 'the operator continues by itself.'
  }
}
