import type { AskedBoth } from './ask-both.ts'
import { type KnownDifference, knownDifferences } from './known-differences.ts'

/** The known differences that explained nothing: they may be gone. */
export function unusedDifferences({ explained }: Pick<AskedBoth, 'explained'>): readonly KnownDifference[] {
  return knownDifferences.filter((known) => !explained.has(known))
}

/** Two tables as documents have them. */
export function differenceTable(result: AskedBoth): string {
  const { states, asked, differing, explained, forbidden, unexplained } = result
  const figures: readonly (readonly [string, number])[] = [
    ['random states', states],
    ['answers about budgets', asked.budgets],
    ['answers about flags', asked.flags],
    ['Longhorn holds what Cofferdam releases, or lets go what Cofferdam leaves to it', forbidden.length],
    ['other differences', differing - forbidden.length],
    ['of these unexplained', unexplained.length],
  ]
  const rows = knownDifferences.map((known) => {
    const { alone, together } = explained.get(known) ?? { alone: 0, together: 0 }
    return `| ${known.name} | ${known.why} | ${known.means} | ${inWords(alone)} | ${inWords(together)} |`
  })
  return [
    '| | |',
    '|---|---|',
    ...figures.map(([what, count]) => `| ${what} | ${inWords(count)} |`),
    '',
    '| Cause | Why it is so | What it means for a drain | alone | with others |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

function inWords(count: number): string {
  return count.toLocaleString('en-US')
}
