import { noOsd, type PgTable } from '../safety/ceph-map.ts'
import type { Observed } from '../shared/observed.ts'
import { observeShape, unexpected } from './json-shape.ts'
import { createPgColumns, type PgColumns } from './pg-columns.ts'

const wanted = ['PG_STAT', 'STATE', 'REPORTED', 'UP', 'ACTING'] as const

/**
 * Reads `pg dump pgs` as the table for people, which is a tenth of the JSON: some 250 bytes for each PG instead of 2300,
 * and the JSON of 300 000 PGs is longer than a string may be.
 *
 * Assumes: no column up to ACTING holds a space, which is so from Octopus on. Where one does, the columns after it no longer
 * look like what they must be, and all is unknown.
 */
export function parsePgListing(text: string): Observed<PgTable> {
  return parsePgListingBlocks([text], countLines(text))
}

/** The same from blocks of whole lines; `maxRows` is at least how many lines they hold. */
export function parsePgListingBlocks(blocks: Iterable<string>, maxRows: number): Observed<PgTable> {
  return observeShape('pg dump', () => {
    const reader = createReader(maxRows)
    for (const block of blocks) if (reader.add(block)) break
    return reader.finish()
  })
}

/** The same with a pause after each block, so that others get their turn. */
export async function parsePgListingInTurns(
  blocks: Iterable<string>,
  maxRows: number,
  pause: () => Promise<void>,
): Promise<Observed<PgTable>> {
  const reader = createReader(maxRows)
  for (const block of blocks) {
    const isOver = observeShape('pg dump', () => reader.add(block))
    if (!isOver.known) return isOver
    if (isOver.value) break
    await pause()
  }
  return observeShape('pg dump', () => reader.finish())
}

interface Reader {
  /** Returns whether the table is over. */
  add(block: string): boolean
  finish(): PgTable
}

function createReader(maxRows: number): Reader {
  const columns = createPgColumns(maxRows)
  let layout: Layout | undefined
  let row = 0
  return {
    add(block) {
      for (let start = 0; start < block.length; ) {
        const end = endOfLine(block, start)
        if (layout === undefined) layout = readHeading(block.slice(start, end))
        else {
          const cells = cellsOf(block, start, end, layout.last + 1)
          // The table ends with an empty line; notes for people follow.
          if (cells.length === 0) return true
          row += 1
          addRow(columns, cells, layout, `row ${row}`)
        }
        start = end + 1
      }
      return false
    },
    finish() {
      if (layout === undefined) layoutOf([])
      return columns.finish()
    },
  }
}

/** Where the columns are that are read. */
interface Layout {
  readonly id: number
  readonly state: number
  readonly reported: number
  readonly up: number
  readonly acting: number
  readonly last: number
}

/** Nothing for a line that is empty: the heading is yet to come. */
function readHeading(line: string): Layout | undefined {
  const heading = line.trimStart()
  return heading === '' ? undefined : layoutOf(cellsOf(heading, 0, heading.length, Number.POSITIVE_INFINITY))
}

function layoutOf(heading: readonly string[]): Layout {
  const [id, state, reported, up, acting] = wanted.map((name) => {
    const column = heading.indexOf(name)
    return column === -1 ? unexpected('the heading', `has no column ${name}`) : column
  }) as [number, number, number, number, number]
  return { id, state, reported, up, acting, last: Math.max(id, state, reported, up, acting) }
}

function addRow(columns: PgColumns, cells: readonly string[], layout: Layout, where: string): void {
  if (cells.length <= layout.last) unexpected(where, 'ends early')
  columns.add(
    {
      id: cells[layout.id],
      state: cells[layout.state],
      up: readMembers(cells[layout.up] ?? '', where),
      acting: readMembers(cells[layout.acting] ?? '', where),
      reportedEpoch: readReported(cells[layout.reported] ?? '', where),
    },
    where,
  )
}

function countLines(text: string): number {
  let lines = 1
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines += 1
  return lines
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end
}

/** The first cells of a line. By hand: splitting by a pattern takes most of the time of a large table. */
function cellsOf(text: string, start: number, end: number, count: number): readonly string[] {
  const cells: string[] = []
  for (let at = start; at < end && cells.length < count; ) {
    while (at < end && isBlank(text.charCodeAt(at))) at += 1
    const begin = at
    while (at < end && !isBlank(text.charCodeAt(at))) at += 1
    if (at > begin) cells.push(text.slice(begin, at))
  }
  return cells
}

/** Space, tab or carriage return. */
function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 13
}

/** `[5,6,10]`; a shard that is missing is `NONE`. */
function readMembers(cell: string, where: string): readonly number[] {
  if (!/^\[(?:(?:\d{1,10}|NONE)(?:,(?:\d{1,10}|NONE))*)?\]$/.test(cell))
    unexpected(where, `names no OSDs in ${cell.slice(0, 40)}`)
  const inner = cell.slice(1, -1)
  return inner === '' ? [] : inner.split(',').map((member) => (member === 'NONE' ? noOsd : Number(member)))
}

/** `39:59`: the epoch, then a count. */
function readReported(cell: string, where: string): number {
  const epoch = /^(\d{1,10}):\d+$/.exec(cell)?.[1]
  return epoch === undefined ? unexpected(where, `names no epoch in ${cell.slice(0, 40)}`) : Number(epoch)
}
