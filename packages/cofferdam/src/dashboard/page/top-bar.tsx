import { asOf, clusterName, connection } from './connection.ts'

const connectionWords = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  'signed-out': 'Signed out',
}

export function TopBar() {
  return (
    <header class="top-bar">
      <div class="brand">
        <Mark />
        <h1>Cofferdam</h1>
        {clusterName.value === '' ? null : <span class="cluster-name">{clusterName}</span>}
      </div>
      <p class={`link-state ${connection.value}`} role="status">
        <span class="lamp" aria-hidden="true" />
        {connectionWords[connection.value]}
        {connection.value === 'reconnecting' ? <span class="as-of">as of {timeText(asOf.value)}</span> : null}
      </p>
    </header>
  )
}

/** To the second, in the time of the reader. */
function timeText(ms: number): string {
  return new Date(ms).toLocaleTimeString([], { hour12: false })
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path class="mark-wall" d="M9 23V8h3.500v11h7V8H23v15z" />
      <path
        class="mark-water"
        d="M2 15q1.750-2 3.500 0M26.500 15q1.750-2 3.500 0M2 20q1.750-2 3.500 0M26.500 20q1.750-2 3.500 0"
      />
      <path class="mark-water" d="M2 27q3.500-3.200 7 0t7 0 7 0 7 0" />
    </svg>
  )
}
