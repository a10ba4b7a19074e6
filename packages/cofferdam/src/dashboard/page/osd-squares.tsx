import { squareText } from '../server/schedule-picture.ts'
import type { PictureProps } from './osd-picture.tsx'

/** A column of a round is at most so high. */
const mostRows = 12
/** Up to this many squares are large enough to show their number. */
const mostNumbered = 150

/** Every OSD as an element: rounds side by side, hosts below each other. */
export function OsdSquares({ groups, order, cursor }: Omit<PictureProps, 'point'>) {
  const sizes = groups.map(({ squares }) => squares.length)
  const isNumbered = sizes.reduce((sum, size) => sum + size, 0) <= mostNumbered
  const rounds = groups.flatMap(({ squares, isRound }) => (isRound ? [squares.length] : []))
  const rows = Math.min(mostRows, Math.max(1, ...(rounds.length > 0 ? rounds : sizes)))
  return (
    <ul class={`square-groups ${order}${isNumbered ? ' numbered' : ''}`} style={{ '--rows': String(rows) }}>
      {groups.map(({ id, label, says, place, squares }, group) => (
        <li key={id} class="square-group" aria-label={says}>
          <p class="group-label" title={says}>
            {label}
            {order === 'by-host' && place !== '' ? <span class="soft"> {place}</span> : null}
          </p>
          <div class="squares" aria-hidden="true">
            {squares.map((square, at) => (
              <span
                key={square.osd}
                class={`osd ${square.state}${cursor?.group === group && cursor.at === at ? ' pointed' : ''}`}
                title={squareText(square)}
                data-group={group}
                data-at={at}
              >
                {isNumbered ? square.osd : null}
              </span>
            ))}
          </div>
        </li>
      ))}
    </ul>
  )
}
