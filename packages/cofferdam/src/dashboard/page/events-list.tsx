import { type EventView, newestEvents } from '../server/cluster-view.ts'
import { ageText } from './age-text.ts'
import { now } from './connection.ts'

const shown = 60

export function EventsList({ events }: { events: readonly EventView[] }) {
  const newest = newestEvents(events, shown)
  return (
    <section class="events panel" aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      {newest.length === 0 ? (
        <p class="empty">Nothing has happened yet.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard
        <ol class="event-list" tabIndex={0} aria-label="Newest events first">
          {newest.map((event) => (
            <EventRow key={event.id} event={event} />
          ))}
        </ol>
      )}
    </section>
  )
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
