import type { Paint } from '../../shared/paint.ts'
import type { Removed } from './sweep.ts'
import type { UninstallResult } from './uninstall-result.ts'

const words = {
  planned: ['cyan', 'planned'],
  blocked: ['red', 'blocked'],
  done: ['green', 'done'],
  unprotected: ['red', 'done with a gap'],
  'timed-out': ['yellow', 'not done yet'],
} as const
const colours = { ok: 'green', warning: 'yellow', blocked: 'red' } as const

export function renderUninstall(result: UninstallResult, paint: Paint, isWide: boolean): string {
  const { outcome, says, checks, losses, released, removed, notes, next } = result
  const [colour, word] = words[outcome]
  const labelled = (text: string) => `  ${outcome === 'planned' ? 'removes ' : 'removed '}  ${text}`
  return [
    `${paint('bold', 'cofferdam')}  ${paint(colour, word)}: ${says}`,
    '',
    ...checks.map(
      ({ what, state, says: detail, wayOut }) =>
        `  ${what.padEnd(10)}${paint(colours[state], state)}: ${detail}${wayOut === undefined ? '' : ` (${wayOut})`}`,
    ),
    ...losses.map((loss) => `  lost      ${loss}`),
    ...released.map(({ object, to, protection }) => {
      const gaps = protection === undefined ? '' : `; ${protection.moments.length} moments without protection`
      return `  released  ${object} to ${to}${gaps}`
    }),
    // What keeps everything as it is comes first; the list is long.
    ...(outcome === 'blocked' ? [] : (isWide ? removed.map(removedText) : summaryOf(removed)).map(labelled)),
    ...notes.map((note) => `  note      ${note}`),
    ...(next === undefined ? [] : [`  next      ${next}`]),
  ].join('\n')
}

function removedText({ object, what }: Removed): string {
  return `${object}: ${what}`
}

/** One line for each thing, with how many objects had it; cordons are named, since pods are placed on those nodes again. */
function summaryOf(removed: readonly Removed[]): string[] {
  const byWhat = new Map<string, string[]>()
  for (const { object, what } of removed) byWhat.set(what, [...(byWhat.get(what) ?? []), object])
  return [...byWhat].map(([what, objects]) => {
    const names = objects.slice(0, mostNamed).join(', ')
    const more = objects.length > mostNamed ? ` and ${objects.length - mostNamed} more` : ''
    return `${what}: ${names}${more}`
  })
}

const mostNamed = 3
