import { useMemo, useState } from 'preact/hooks'
import type { UpdateViewModel } from '../server/osd-update-view-model.ts'
import {
  type Cursor,
  drawSchedule,
  moveCursor,
  type PictureOrder,
  type SquareGroup,
  squareText,
} from '../server/schedule-picture.ts'
import { OsdCanvas } from './osd-canvas.tsx'
import { OsdSquares } from './osd-squares.tsx'

/** More elements than this make the page slow; then they are drawn. */
const mostElements = 600

export interface PictureProps {
  readonly groups: readonly SquareGroup[]
  readonly order: PictureOrder
  readonly cursor: Cursor | undefined
  readonly point: (cursor: Cursor | undefined) => void
}

/** One square per OSD. The pointer or the arrow keys choose one, and it says which it is. */
export function OsdPicture({ model, order }: { model: UpdateViewModel; order: PictureOrder }) {
  const groups = useMemo(() => drawSchedule(model, order), [model, order])
  const [cursor, setCursor] = useState<Cursor | undefined>(undefined)
  const pointed = cursor && groups[cursor.group]?.squares[cursor.at]
  const isLarge = model.overview.total > mostElements
  const flow = isLarge || order === 'by-round' ? 'down' : 'right'
  const hover = ({ target }: MouseEvent) => {
    const { group, at } = target instanceof HTMLElement ? target.dataset : {}
    if (group !== undefined && at !== undefined) setCursor({ group: Number(group), at: Number(at) })
  }
  const props: PictureProps = { groups, order, cursor: pointed === undefined ? undefined : cursor, point: setCursor }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      setCursor(undefined)
      return
    }
    const next = moveCursor(groups, cursor ?? { group: 0, at: 0 }, { key: event.key, flow })
    if (next === undefined) return
    event.preventDefault()
    setCursor(next)
  }
  const what = order === 'by-round' ? 'one column per round' : 'host by host'
  return (
    <section
      class="picture"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys walk through the squares
      tabIndex={0}
      aria-label={`The OSDs, ${what}. Arrow keys walk through them.`}
      onKeyDown={press}
      onMouseOver={hover}
      onFocus={() => setCursor((chosen) => chosen ?? { group: 0, at: 0 })}
      onBlur={() => setCursor(undefined)}
      onMouseLeave={() => setCursor(undefined)}
    >
      {isLarge ? <OsdCanvas {...props} /> : <OsdSquares {...props} />}
      <p class={pointed === undefined ? 'pointed soft' : 'pointed'} role="status">
        {pointed === undefined ? 'Point at a square, or walk with the arrow keys.' : squareText(pointed)}
      </p>
    </section>
  )
}
