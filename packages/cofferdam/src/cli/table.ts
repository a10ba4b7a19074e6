import { stripVTControlCharacters } from 'node:util'

/** What a page of text may be wide: half of a usual screen, or all of a narrow one. */
export const pageWidth = 100

/** No column is cut shorter than this. */
const narrowest = 12

/**
 * Columns under headings, aligned by the widest cell, two spaces apart, nothing after the last column. With a width, the widest columns are
 * cut until the lines fit.
 */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  {
    width,
    whole = 1,
  }: {
    readonly width?: number
    /** So many columns from the left are names, which are of use only as a whole. */
    readonly whole?: number
  } = {},
): string {
  const lines = [headings, ...rows]
  const natural = headings.map((_heading, column) => Math.max(...lines.map((line) => visibleWidth(line[column] ?? ''))))
  const widths =
    width === undefined ? natural : fittingWidths(natural, { room: width - 2 * (headings.length - 1), whole })
  return lines
    .map((line) =>
      headings
        .map((_heading, column) => padded(cut(line[column] ?? '', widths[column] as number), widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Takes from the widest column, again and again, until all fit or none can give more. */
function fittingWidths(
  natural: readonly number[],
  { room, whole }: { readonly room: number; readonly whole: number },
): readonly number[] {
  const widths = [...natural]
  for (let excess = widths.reduce((sum, each) => sum + each, 0) - room; excess > 0; excess -= 1) {
    const widest = Math.max(0, ...widths.slice(whole))
    if (widest <= narrowest) break
    widths[widths.lastIndexOf(widest)] = widest - 1
  }
  return widths
}

/** The first characters, and a sign that there are more; colours around them stay. */
export function cut(cell: string, width: number): string {
  if (visibleWidth(cell) <= width) return cell
  const plain = stripVTControlCharacters(cell)
  const short = `${plain.slice(0, Math.max(0, width - 1)).trimEnd()}…`
  return cell.includes(plain) ? cell.replace(plain, () => short) : short
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - visibleWidth(cell)))
}

function visibleWidth(cell: string): number {
  return stripVTControlCharacters(cell).length
}
