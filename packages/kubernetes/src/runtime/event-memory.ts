import { hash } from 'node:crypto'
import type { EventSubject, EventText } from './build-event.ts'
import type { Clock } from './clock.ts'

/** What counts as a repetition. */
export interface Repetition {
  /** What makes it another event than the last; its reason and note unless given. For notes with figures that change all day. */
  readonly state?: string
  /** The same state is recorded again after so long. Never unless given. */
  readonly againAfterMs?: number
  /** What may pass is recorded when its reason has stood for so long. */
  readonly lastsMs?: number
  /** Records it though its state be the same. */
  readonly isNew?: boolean
}

/** What is recorded on a topic takes the place of what was recorded on it before. */
export interface Topic extends Repetition {
  /** What is forgotten together. */
  readonly group: string
  readonly slot?: string
}

/** Whether it is a repetition was found out before: it is recorded, unless the same text comes far too often. */
export const foundNew: Topic = { group: 'found new', isNew: true }

export interface RememberedEvent {
  /** Undefined while nothing was recorded, but something stands that may pass. */
  state?: string
  /** Undefined where it was not this process that recorded it. */
  object?: string
  reason?: string
  atMs: number
  /** The event was not written, and may be from then on. */
  retryAtMs?: number
  /** Since when another reason stands that may pass. */
  pending?: { readonly reason: string; readonly sinceMs: number }
}

interface Occurrence {
  readonly object?: string
  readonly state: string
  readonly reason: string
}

const retryMs = 60_000
const repetitionMs = 60_000
const flood = { most: 10, windowMs: 600_000 }
/** Objects and texts beyond that are forgotten, the oldest first: at worst one is recorded once more. */
const mostRemembered = 5_000

/** What was recorded last, on each topic and about each object. */
export class EventMemory {
  readonly #clock: Pick<Clock, 'now'>
  readonly #groups = new Map<string, Map<string, RememberedEvent>>()
  /** Events without a topic, by object. */
  readonly #objects = new Map<string, RememberedEvent>()
  /** By object and text: when they were recorded. */
  readonly #times = new Map<string, readonly number[]>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** What is remembered of it, where it is to be written. */
  admit(about: EventSubject, { type, reason, note }: EventText, topic?: Topic): RememberedEvent | undefined {
    const object = idOf(about)
    const words = fingerprint(JSON.stringify([type, reason, note]))
    const occurrence = { object, state: topic?.state ?? words, reason }
    const event =
      topic === undefined
        ? this.#change(this.#eventAbout(object), occurrence, { againAfterMs: repetitionMs })
        : this.#change(this.#eventOn(topic), occurrence, topic)
    if (event === undefined) return undefined
    const freeAtMs = this.#freeAtMs(`${object} ${words}`)
    if (freeAtMs === undefined) return event
    event.retryAtMs = freeAtMs
    return undefined
  }

  /** The same for texts that others write. */
  isChange(topic: Topic, state: string): boolean {
    return this.#change(this.#eventOn(topic), { state, reason: '' }, topic) !== undefined
  }

  noteRefused(event: RememberedEvent): void {
    event.retryAtMs = this.#clock.now() + retryMs
  }

  get({ group, slot = '' }: Pick<Topic, 'group' | 'slot'>): RememberedEvent | undefined {
    const event = this.#groups.get(group)?.get(slot)
    return event?.state === undefined ? undefined : event
  }

  put(topic: Topic, state: string, reason: string): void {
    Object.assign(this.#eventOn(topic), { state, reason, atMs: this.#clock.now() })
  }

  keepOnly(group: string, slots: ReadonlySet<string>): void {
    const events = this.#groups.get(group)
    for (const slot of events?.keys() ?? []) if (!slots.has(slot)) events?.delete(slot)
  }

  forget(group: string, slot?: string): void {
    if (slot === undefined) this.#groups.delete(group)
    else this.#groups.get(group)?.delete(slot)
  }

  #change(event: RememberedEvent, now: Occurrence, repetition: Repetition): RememberedEvent | undefined {
    const nowMs = this.#clock.now()
    const { againAfterMs = Number.POSITIVE_INFINITY, lastsMs = 0, isNew = false } = repetition
    const isOfAnother = event.object !== undefined && now.object !== undefined && event.object !== now.object
    const isSame = event.state === now.state && !isOfAnother
    const sinceMs = event.pending?.reason === now.reason ? event.pending.sinceMs : nowMs
    delete event.pending
    if ((!isSame || isNew) && nowMs - sinceMs < lastsMs) {
      event.pending = { reason: now.reason, sinceMs }
      return undefined
    }
    const isDue = nowMs - event.atMs >= againAfterMs || nowMs >= (event.retryAtMs ?? Number.POSITIVE_INFINITY)
    if (isSame && !isNew && !isDue) return undefined
    delete event.retryAtMs
    return Object.assign(event, now, { atMs: nowMs })
  }

  /** Where the same text came again and again: when it may come once more. Else they are counted. */
  #freeAtMs(words: string): number | undefined {
    const nowMs = this.#clock.now()
    const recent = (this.#times.get(words) ?? []).filter((atMs) => nowMs - atMs < flood.windowMs)
    const [first = 0] = recent
    if (recent.length >= flood.most) return first + flood.windowMs
    this.#times.delete(words)
    this.#times.set(words, [...recent, nowMs])
    limit(this.#times)
    return undefined
  }

  #eventOn({ group, slot = '' }: Topic): RememberedEvent {
    const events = this.#groups.get(group) ?? new Map<string, RememberedEvent>()
    this.#groups.set(group, events)
    const event = events.get(slot) ?? { atMs: Number.NEGATIVE_INFINITY }
    events.set(slot, event)
    return event
  }

  #eventAbout(object: string): RememberedEvent {
    const event = this.#objects.get(object) ?? { atMs: Number.NEGATIVE_INFINITY }
    this.#objects.delete(object)
    this.#objects.set(object, event)
    limit(this.#objects)
    return event
  }
}

/** Thousands of long notes would be megabytes that are only ever compared. */
function fingerprint(text: string): string {
  return text.length <= 64 ? text : hash('sha256', text, 'base64url')
}

function limit(remembered: Map<string, unknown>): void {
  const [oldest] = remembered.size > mostRemembered ? remembered.keys() : []
  if (oldest !== undefined) remembered.delete(oldest)
}

function idOf({ kind, metadata: { uid, namespace = '', name } }: EventSubject): string {
  return uid ?? `${kind} ${namespace}/${name}`
}
