import { squareText } from '../schedule-picture.ts'
import type { PictureProps } from './osd-picture.tsx'

/** A column of a round is at most about so high. */
const mostRows = 12

/** Every OSD as an element: rounds side by side, hosts below each other. */
export function OsdSquares({ groups, order, cursor }: Omit<PictureProps, 'point'>) {
  const largest = Math.max(0, ...groups.map(({ squares }) => squares.length))
  const across = Math.ceil(largest / mostRows)
  return (
    <ul class={`square-groups ${order}`} style={{ '--across': String(across) }}>
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
              />
            ))}
          </div>
        </li>
      ))}
    </ul>
  )
}
