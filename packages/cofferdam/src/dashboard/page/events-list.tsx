import { signal } from '@preact/signals'
import { type EventView, newestEvents } from '../server/cluster-view.ts'
import { ageText } from './age-text.ts'
import { now } from './connection.ts'

const shown = 80

const wanted = signal('')
const isWarningsOnly = signal(false)
/** Empty: all kinds. */
const kind = signal('')

/** What happened and why, newest first, by kind and by words. */
export function EventsList({ events }: { events: readonly EventView[] }) {
  const words = wanted.value.trim().toLowerCase()
  const found = events.filter((event) => isWanted(event, words))
  const newest = newestEvents(found, shown)
  return (
    <section class="events panel" aria-labelledby="events-title">
      <h2 id="events-title">Timeline</h2>
      {events.length === 0 ? (
        <p class="empty">Nothing has happened yet.</p>
      ) : (
        <>
          <p class="event-filter">
            <input
              type="search"
              aria-label="Filter the timeline"
              placeholder="object, reason or word"
              value={wanted.value}
              onInput={({ currentTarget }) => {
                wanted.value = currentTarget.value
              }}
            />
            <select
              aria-label="Kind of object"
              value={kind.value}
              onChange={({ currentTarget }) => {
                kind.value = currentTarget.value
              }}
            >
              <option value="">All kinds</option>
              {kindsOf(events).map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
            <label>
              <input
                type="checkbox"
                checked={isWarningsOnly.value}
                onChange={({ currentTarget }) => {
                  isWarningsOnly.value = currentTarget.checked
                }}
              />{' '}
              Warnings only
            </label>
          </p>
          {newest.length === 0 ? <p class="empty">No event matches.</p> : null}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard */}
          <ol class="event-list" tabIndex={0} aria-label="Newest events first">
            {newest.map((event) => (
              <EventRow key={event.id} event={event} />
            ))}
          </ol>
        </>
      )}
    </section>
  )
}

/** Those there are, and the one that is chosen even while it has no event. */
function kindsOf(events: readonly EventView[]): string[] {
  const chosen = kind.value === '' ? [] : [kind.value]
  return [...new Set([...chosen, ...events.map(kindOf)])].sort()
}

function kindOf({ about }: EventView): string {
  return about.slice(0, about.indexOf(' '))
}

function isWanted(event: EventView, words: string): boolean {
  const { type, about, reason, message } = event
  if (isWarningsOnly.value && type !== 'Warning') return false
  if (kind.value !== '' && kind.value !== kindOf(event)) return false
  return words === '' || `${about} ${reason} ${message}`.toLowerCase().includes(words)
}

function EventRow({ event }: { event: EventView }) {
  return (
    <li class={`event ${event.type.toLowerCase()}`}>
      <p class="event-head">
        <span class="reason">{event.reason}</span>
        {event.count > 1 ? <span class="times">×{event.count}</span> : null}
        <time dateTime={event.at}>{ageText(event.at, now.value)}</time>
      </p>
      <p class="about">{event.about}</p>
      <p class="message">{event.message}</p>
    </li>
  )
}
