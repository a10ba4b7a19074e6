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
  const { object, outcome, says, checks, changes, pending, protection, next } = result
  const [colour, word] = words[outcome]
  // Before anything is changed all of it is still to come.
  const missing = outcome === 'planned' || outcome === 'blocked' ? [] : pending
  return [
    `${paint('bold', object)}  ${paint(colour, word)}: ${says}`,
    '',
    ...checks.map(
      ({ what, state, says: detail, wayOut }) =>
        `  ${what.padEnd(10)}${paint(colours[state], state)}: ${detail}${wayOut === undefined ? '' : ` (${wayOut})`}`,
    ),
    ...changes.map((change) => `  change    ${change}`),
    ...missing.slice(0, 5).map((each) => `  missing   ${each}`),
    ...(missing.length > 5 ? [`  missing   ${missing.length - 5} more`] : []),
    ...(protection === undefined
      ? []
      : [
          `  budgets   ${momentsText(protection.moments.length)} without protection, in ${protection.changesSeen} states that were judged`,
          ...protection.moments
            .slice(0, 5)
            .map(
              ({ at, osds, instanceManagers }) => `  gap       ${at}: ${(osds ?? instanceManagers ?? []).join(', ')}`,
            ),
          ...(protection.interruptions === 0
            ? []
            : [`  watch     interrupted ${protection.interruptions} times: changes in between were not judged`]),
        ]),
    ...(next === undefined ? [] : [`  next      ${next}`]),
  ].join('\n')
}

function momentsText(count: number): string {
  return count === 1 ? '1 moment' : `${count} moments`
}
