import type { Cursor } from './schedule-picture.ts'

/** Where thousands of squares are drawn: each group fills columns from the top, and groups stand side by side in bands. */
export interface PictureLayout {
  /** Width and height of a square with its margin, in pixels. */
  readonly cell: number
  /** How many squares are below each other. */
  readonly rows: number
  readonly height: number
  readonly groups: readonly { readonly x: number; readonly y: number }[]
}

const cells = [14, 12, 10, 8, 7, 6, 5]
const gap = 4
/** Before a group that stands in another place than the one before it. */
const wideGap = 14
/** Above each band, for what its groups are called. */
export const labelHeight = 16

/** The largest squares with which all is at most so high; the lowest picture where none is. */
export function layoutPicture(
  sizes: readonly number[],
  given: { readonly width: number; readonly mostHeight: number; readonly apart?: ReadonlySet<number> },
): PictureLayout {
  const { width, mostHeight } = given
  const largest = sizes.reduce((most, size) => Math.max(most, size), 1)
  let lowest: PictureLayout | undefined
  for (const cell of cells) {
    const across = Math.floor(width / cell)
    if (across < 1) continue
    const fewestRows = Math.ceil(largest / across)
    const mostRows = Math.min(largest, Math.floor((mostHeight - labelHeight - gap) / cell))
    for (let rows = Math.max(mostRows, fewestRows); rows >= fewestRows; rows -= 1) {
      const layout = layoutWith(sizes, { ...given, cell, rows })
      if (layout.height <= mostHeight) return layout
      if (lowest === undefined || layout.height < lowest.height) lowest = layout
    }
  }
  return lowest ?? { cell: 5, rows: 1, height: 0, groups: [] }
}

function layoutWith(
  sizes: readonly number[],
  given: {
    readonly width: number
    readonly cell: number
    readonly rows: number
    readonly apart?: ReadonlySet<number>
  },
): PictureLayout {
  const { width, cell, rows, apart } = given
  const groups: { x: number; y: number }[] = []
  let x = 0
  let top = 0
  let highest = 0
  for (const [at, size] of sizes.entries()) {
    if (x > 0 && apart?.has(at) === true) x += wideGap - gap
    const across = Math.ceil(size / rows) * cell
    if (x > 0 && x + across > width) {
      x = 0
      top += labelHeight + highest + gap
      highest = 0
    }
    groups.push({ x, y: top + labelHeight })
    highest = Math.max(highest, Math.min(size, rows) * cell)
    x += across + gap
  }
  return { cell, rows, height: top + labelHeight + highest + gap, groups }
}

export function placeOf({ cell, rows, groups }: PictureLayout, { group, at }: Cursor): { x: number; y: number } {
  const { x, y } = groups[group] ?? { x: 0, y: 0 }
  return { x: x + Math.floor(at / rows) * cell, y: y + (at % rows) * cell }
}

/** The square at a point, if there is one. */
export function squareAt(
  { cell, rows, groups }: PictureLayout,
  sizes: readonly number[],
  point: { readonly x: number; readonly y: number },
): Cursor | undefined {
  for (const [group, origin] of groups.entries()) {
    const row = Math.floor((point.y - origin.y) / cell)
    const column = Math.floor((point.x - origin.x) / cell)
    const at = column * rows + row
    if (row >= 0 && row < rows && column >= 0 && at < (sizes[group] ?? 0)) return { group, at }
  }
  return undefined
}
