import type { Cursor } from './schedule-picture.ts'

/** Where thousands of squares are drawn: groups as small columns, side by side, in as many bands as the width asks for. */
export interface PictureLayout {
  /** Width and height of a square with its margin, in pixels. */
  readonly cell: number
  /** How many squares are side by side in a group. */
  readonly across: number
  readonly height: number
  readonly groups: readonly { readonly x: number; readonly y: number }[]
}

const cells = [14, 12, 10, 8, 7, 6, 5]
const mostAcross = 12
const gap = 4
/** Above each band, for what its groups are called. */
export const labelHeight = 16

/** The largest squares with which all is at most so high; the smallest when even those are higher. */
export function layoutPicture(
  sizes: readonly number[],
  { width, mostHeight }: { readonly width: number; readonly mostHeight: number },
): PictureLayout {
  let lowest: PictureLayout | undefined
  for (const cell of cells) {
    for (let across = 1; across <= mostAcross; across += 1) {
      const layout = layoutWith(sizes, { width, cell, across })
      if (layout === undefined) break
      if (layout.height <= mostHeight) return layout
      if (lowest === undefined || layout.height < lowest.height) lowest = layout
    }
  }
  return lowest ?? { cell: 5, across: 1, height: 0, groups: [] }
}

function layoutWith(
  sizes: readonly number[],
  { width, cell, across }: { readonly width: number; readonly cell: number; readonly across: number },
): PictureLayout | undefined {
  const column = across * cell + gap
  const perBand = Math.floor((width + gap) / column)
  if (perBand < 1) return undefined
  const groups: { x: number; y: number }[] = []
  let y = 0
  for (let first = 0; first < sizes.length; first += perBand) {
    const band = sizes.slice(first, first + perBand)
    for (const at of band.keys()) groups.push({ x: at * column, y: y + labelHeight })
    y += labelHeight + Math.ceil(Math.max(...band) / across) * cell + gap
  }
  return { cell, across, height: y, groups }
}

export function placeOf({ cell, across, groups }: PictureLayout, { group, at }: Cursor): { x: number; y: number } {
  const { x, y } = groups[group] ?? { x: 0, y: 0 }
  return { x: x + (at % across) * cell, y: y + Math.floor(at / across) * cell }
}

/** The square at a point, if there is one. */
export function squareAt(
  { cell, across, groups }: PictureLayout,
  sizes: readonly number[],
  point: { readonly x: number; readonly y: number },
): Cursor | undefined {
  const group = groups.findIndex(({ x, y }, index) => {
    const rows = Math.ceil((sizes[index] ?? 0) / across)
    return point.x >= x && point.x < x + across * cell && point.y >= y && point.y < y + rows * cell
  })
  const origin = groups[group]
  if (origin === undefined) return undefined
  const at = Math.floor((point.y - origin.y) / cell) * across + Math.floor((point.x - origin.x) / cell)
  return at < (sizes[group] ?? 0) ? { group, at } : undefined
}
