import { stripVTControlCharacters } from 'node:util'

/** Columns under headings, aligned by the widest cell, two spaces apart, nothing after the last column. */
export function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows]
  const widths = headings.map((_heading, column) => Math.max(...lines.map((line) => visibleWidth(line[column] ?? ''))))
  return lines
    .map((line) =>
      headings
        .map((_heading, column) => padded(line[column] ?? '', widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(width - visibleWidth(cell))
}

function visibleWidth(cell: string): number {
  return stripVTControlCharacters(cell).length
}
