import type { Paint } from '../../../shared/paint.ts'
import { countedText } from './counted-text.ts'
import { progressSuffix, ruleText } from './longhorn-text.ts'
import { movesText } from './move-counts.ts'
import type { LonghornNodeSummary, LonghornSummary } from './summarize-longhorn.ts'

const linesShown = 5

/** Who decides and how the volumes are, then a line for each node that leaves and for each problem. */
export function longhornStatusLines(longhorn: LonghornSummary, paint: Paint): string[] {
  return [
    `${ruleText(longhorn)}: ${volumesText(longhorn.volumes, paint)}`,
    ...shortened(longhorn.nodes.map((node) => nodeText(node, paint))),
    ...shortened(
      longhorn.problems.map(({ object, problem }) => `${paint('yellow', 'problem:')} ${object}: ${problem}`),
    ),
    ...shortened(longhorn.surplusKept.map(({ explanation }) => explanation)),
  ]
}

function volumesText({ total, healthy, degraded, faulted, unknown }: LonghornSummary['volumes'], paint: Paint): string {
  if (total === 0) return 'no volumes'
  const parts: [number, string][] = [
    [healthy, paint('green', `${healthy} healthy`)],
    [degraded, paint('yellow', `${degraded} degraded`)],
    [faulted, paint('red', `${faulted} faulted`)],
    [unknown, `${unknown} not in use`],
  ]
  const texts = parts.flatMap(([count, text]) => (count === 0 ? [] : [text]))
  return `${countedText(total, 'volume')}, ${texts.join(', ')}`
}

function nodeText(summary: LonghornNodeSummary, paint: Paint): string {
  const { node, mayDrain, reason, held, moving, moves, progress } = summary
  const verdict = mayDrain
    ? paint('green', 'may go')
    : paint('red', `held by ${countedText(held, 'thing')} (${reason})`)
  const far = moving === 0 ? '' : `, ${movesText(moves)}${progressSuffix(progress)}`
  return `${node}: ${verdict}${far}`
}

function shortened(lines: readonly string[]): string[] {
  const more = lines.length - linesShown
  return more <= 0 ? [...lines] : [...lines.slice(0, linesShown), `… and ${more} more; -o json shows all`]
}
