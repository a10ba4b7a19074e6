import { estimateText, sameSaid, wavesText } from '../../capabilities/drain-lock/view/plan-words.ts'
import { harmlessData } from '../../shared/harmless-text.ts'
import type { Paint } from '../../shared/paint.ts'
import type { DrainPlanFile } from './drain-plan-file.ts'

const width = 100
const drawn = 24
const mostWaves = 20
const mostNodes = 10

/** The plan for people: how many waves, which nodes in each, what never goes and why, what is waited for now. */
export function renderDrainPlan(plan: DrainPlanFile, paint: Paint): string {
  const { waves, never, unknown, waits, foreseen, notSeen } = harmlessData(plan)
  return [
    ...headline(plan, paint),
    ...(waves.length === 0 ? [] : ['', ...schedule(waves, paint)]),
    ...section(`${paint('red', 'never')} as asked: these nodes are in no wave`, never),
    ...section(`${paint('yellow', 'not readable')} with these rights: these nodes are in no wave`, unknown),
    ...section(`${paint('yellow', 'waits now')} for what can end by itself: these nodes go in the last waves`, waits),
    ...section(`${paint('yellow', 'check')}: nothing forbids it, but a drain can stop here`, foreseen),
    ...section(
      `${paint('yellow', 'not known')}`,
      notSeen.map((why) => ({ node: '', why })),
    ),
  ].join('\n')
}

function headline(
  { waves, never, unknown, lowerBound, estimateSeconds, estimateRestsOn, observedAt }: DrainPlanFile,
  paint: Paint,
): string[] {
  const count = waves.flat().length
  const total = count + never.length + unknown.length
  const nodes = total === 1 ? '1 node' : `${total} nodes`
  const inWaves = wavesText({ waves, lowerBound })
  const others = [
    ...(never.length === 0 ? [] : [`${never.length} can never go`]),
    ...(unknown.length === 0 ? [] : [`${unknown.length} cannot be judged`]),
  ]
  const none = unknown.length === 0 ? ['none can go'] : ['none is known to go', ...others]
  const verdict = count === 0 ? paint('red', none.join(', ')) : [paint('green', inWaves), ...others].join(', ')
  return [
    `${paint('bold', nodes)}  ${verdict}`,
    ...wrapped(`estimate  ${estimateText({ estimateSeconds })}: ${estimateRestsOn}`),
    `as of     ${observedAt}`,
  ]
}

/** One line for each wave: when it is, and which nodes. */
function schedule(waves: readonly (readonly string[])[], paint: Paint): string[] {
  const digits = String(waves.length).length
  const line = (at: number) => {
    const nodes = waves[at] ?? []
    const label = `wave ${String(at + 1).padStart(digits)}  ${bar(at, waves.length)}  `
    return `${label}${nodesText(nodes, width - label.length)}`
  }
  const shown =
    waves.length <= mostWaves ? waves.map((_, at) => at) : Array.from({ length: mostWaves - 2 }, (_, at) => at)
  const lines = shown.map(line)
  if (shown.length === waves.length) return lines
  const left = waves.length - shown.length - 1
  return [...lines, paint('dim', `… ${left} more waves (-o json has all of them)`), line(waves.length - 1)]
}

function bar(at: number, count: number): string {
  const cells = Math.min(drawn, count)
  const from = Math.floor((at * cells) / count)
  const to = Math.max(from + 1, Math.floor(((at + 1) * cells) / count))
  return `${'·'.repeat(from)}${'█'.repeat(to - from)}${'·'.repeat(cells - to)}`
}

function nodesText(nodes: readonly string[], room: number): string {
  for (let shown = Math.min(nodes.length, mostNodes); shown > 0; shown -= 1) {
    const more = nodes.length - shown
    const text = `${nodes.slice(0, shown).join(', ')}${more === 0 ? '' : ` and ${more} more`}`
    if (text.length <= room || shown === 1) return text
  }
  return ''
}

function section(title: string, rows: Parameters<typeof sameSaid>[0]): string[] {
  if (rows.length === 0) return []
  const groups = sameSaid(rows)
  const lines = groups
    .slice(0, mostNodes)
    .flatMap(({ why, nodes }) =>
      nodes.length === 0 ? wrapped(`  ${why}`) : [`  ${nodesText(nodes, width - 2)}`, ...wrapped(`    ${why}`)],
    )
  const left = groups.length - mostNodes
  return ['', title, ...lines, ...(left > 0 ? [`  … ${left} more (-o json has all of them)`] : [])]
}

/** In lines of at most the width, with the indentation of the first. */
function wrapped(text: string): string[] {
  const indent = /^ */u.exec(text)?.[0] ?? ''
  const lines: string[] = []
  let line = indent
  for (const word of text.trim().split(' ')) {
    if (line.trim() !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent
    }
    line += line.trim() === '' ? word : ` ${word}`
  }
  return [...lines, line]
}
