import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { OsdState } from '../server/osd-update-overview.ts'
import { labelHeight, layoutPicture, type PictureLayout, placeOf, squareAt } from '../server/picture-layout.ts'
import { type Cursor, placeChanges, type SquareGroup, squareText } from '../server/schedule-picture.ts'
import type { PictureProps } from './osd-picture.tsx'

const mostHeight = 420

/** Thousands of OSDs, drawn: as many elements would make the page slow. */
export function OsdCanvas({ groups, cursor, point }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useWidth(canvas)
  const isDark = useDarkness()
  const sizes = useMemo(() => groups.map(({ squares }) => squares.length), [groups])
  const apart = useMemo(() => placeChanges(groups), [groups])
  const layout = useMemo(() => layoutPicture(sizes, { width, mostHeight, apart }), [sizes, width, apart])
  const pointed = cursor && groups[cursor.group]?.squares[cursor.at]

  // Colours are read from the page, which has others in the dark.
  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, { groups, layout, width, cursor, apart })
  }, [groups, layout, width, cursor, apart, isDark])

  const find = (event: MouseEvent): Cursor | undefined =>
    squareAt(layout, sizes, { x: event.offsetX, y: event.offsetY })
  return (
    <canvas
      ref={canvas}
      class="osd-canvas"
      style={{ height: `${layout.height}px` }}
      role="img"
      aria-label={groups.map(({ says }) => says).join('; ')}
      title={pointed === undefined ? undefined : squareText(pointed)}
      onMouseMove={(event) => point(find(event))}
      onClick={(event) => point(find(event))}
    />
  )
}

function useWidth(canvas: { readonly current: HTMLCanvasElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (canvas.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(canvas.current)
    return () => observer.disconnect()
  }, [canvas])
  return width
}

function useDarkness(): boolean {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), [])
  const [isDark, setDark] = useState(query.matches)
  useEffect(() => {
    const change = () => setDark(query.matches)
    query.addEventListener('change', change)
    return () => query.removeEventListener('change', change)
  }, [query])
  return isDark
}

interface Drawing {
  readonly groups: readonly SquareGroup[]
  readonly layout: PictureLayout
  readonly width: number
  readonly cursor: Cursor | undefined
  /** Groups that begin another place. */
  readonly apart: ReadonlySet<number>
}

const inks = ['--calm', '--accent', '--line-strong', '--busy', '--alarm', '--surface', '--ink', '--ink-soft'] as const
type Inks = Readonly<Record<(typeof inks)[number], string>>

function draw(canvas: HTMLCanvasElement, drawing: Drawing): void {
  const { groups, layout, width, cursor } = drawing
  const pen = canvas.getContext('2d')
  if (pen === null) return
  const scale = window.devicePixelRatio || 1
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(layout.height * scale)
  pen.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const ink = Object.fromEntries(inks.map((name) => [name, style.getPropertyValue(name).trim()])) as Inks
  pen.fillStyle = ink['--ink-soft']
  pen.font = `11px ${style.fontFamily}`
  drawLabels(pen, drawing)
  const side = layout.cell - 1
  for (const [group, { squares }] of groups.entries()) {
    for (const [at, { state }] of squares.entries())
      drawSquare(pen, { ...placeOf(layout, { group, at }), side, state, ink })
  }
  if (cursor === undefined) return
  const { x, y } = placeOf(layout, cursor)
  pen.strokeStyle = ink['--ink']
  pen.lineWidth = 2
  pen.strokeRect(x - 1, y - 1, side + 2, side + 2)
}

/** As many as find room. For hosts their places are named: those are few, and hosts are not. */
function drawLabels(pen: CanvasRenderingContext2D, { groups, layout, width, apart }: Drawing): void {
  let free = { x: 0, y: -1 }
  for (const [at, { label, place }] of groups.entries()) {
    const { x, y } = layout.groups[at] ?? { x: 0, y: 0 }
    if ((apart.size > 0 && !apart.has(at)) || (y === free.y && x < free.x)) continue
    const text = apart.size > 0 ? (place.split(', ').at(-1) ?? '') : label
    const end = x + pen.measureText(text).width
    if (end > width) continue
    pen.fillText(text, x, y - labelHeight + 12)
    free = { x: end + 10, y }
  }
}

/** States differ in shape as well as in colour, as the squares of the stylesheet do. */
function drawSquare(
  pen: CanvasRenderingContext2D,
  given: {
    readonly x: number
    readonly y: number
    readonly side: number
    readonly state: OsdState
    readonly ink: Inks
  },
): void {
  const { x, y, side, state, ink } = given
  switch (state) {
    case 'done':
      pen.fillStyle = ink['--calm']
      pen.fillRect(x, y, side, side)
      return
    case 'waits':
      outline(pen, given, ink['--line-strong'])
      return
    case 'on-the-way':
      outline(pen, given, ink['--accent'])
      pen.fillStyle = ink['--accent']
      pen.fillRect(x, y + side / 2, side, side / 2)
      return
    case 'blocked':
      outline(pen, given, ink['--busy'])
      line(pen, ink['--busy'], [x, y + side, x + side, y])
      return
    case 'failed':
      pen.fillStyle = ink['--alarm']
      pen.fillRect(x, y, side, side)
      line(pen, ink['--surface'], [x + 1, y + 1, x + side - 1, y + side - 1])
      line(pen, ink['--surface'], [x + 1, y + side - 1, x + side - 1, y + 1])
  }
}

function outline(
  pen: CanvasRenderingContext2D,
  { x, y, side }: { readonly x: number; readonly y: number; readonly side: number },
  colour: string,
): void {
  pen.strokeStyle = colour
  pen.lineWidth = 1
  pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1)
}

function line(
  pen: CanvasRenderingContext2D,
  colour: string,
  [fromX, fromY, toX, toY]: [number, number, number, number],
) {
  pen.strokeStyle = colour
  pen.lineWidth = 1
  pen.beginPath()
  pen.moveTo(fromX, fromY)
  pen.lineTo(toX, toY)
  pen.stroke()
}
