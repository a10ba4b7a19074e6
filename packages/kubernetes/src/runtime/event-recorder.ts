import { events } from '../api/resources.ts'
import type { KubeApi } from '../client/kube-api.ts'
import { buildEvent, type EventSource, type EventSubject, type EventText } from './build-event.ts'
import type { Clock } from './clock.ts'
import { EventMemory, type RememberedEvent, type Repetition, type Topic } from './event-memory.ts'

/** Rejects when the event could not be written. */
export type EventWriter = (about: EventSubject, text: EventText) => Promise<unknown>

export interface EventRecorderOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly write: EventWriter
  /** Before it is written. */
  readonly onRecord?: (about: EventSubject, text: EventText) => void
  readonly onRefused?: (about: EventSubject, text: EventText, error: unknown) => void
}

/** One of several that stand at the same time. */
export interface Standing<R extends string> extends EventText<R>, Repetition {
  /** Which of its group it is. */
  readonly slot: string
  /** Undefined while the object is not at hand: it is recorded when it is. */
  readonly about: EventSubject | undefined
}

/**
 * Records Events, and leaves out what repeats what was recorded before.
 *
 * Guarantees: never throws, for no event is worth a failed reconcile. On a topic an event is written when it differs from the last
 * one, or after it was forgotten, or after the time that was given; without a topic, when it differs from the last one about its
 * object or a minute has passed. One that was refused is tried again when it is recorded again, a minute later at the soonest. The
 * same text about the same object is written ten times in ten minutes at most; a new text is never left out.
 */
export class EventRecorder<R extends string = string> {
  readonly #options: EventRecorderOptions
  readonly #memory: EventMemory

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#memory = new EventMemory(options.clock)
  }

  /** With a memory of its own: what two reporters say on a topic of the same name are two things. */
  scoped(): EventRecorder<R> {
    return new EventRecorder(this.#options)
  }

  /** Whether it was more than a repetition. */
  record(about: EventSubject, { type, reason, note }: EventText<R>, topic?: Topic): Promise<boolean> {
    const text = { type, reason, note }
    const remembered = this.#memory.admit(about, text, topic)
    return remembered === undefined ? Promise.resolve(false) : this.#write(about, text, remembered)
  }

  /** All of a group that stands now. What no longer does is forgotten. */
  async recordAll(group: string, standing: readonly Standing<R>[]): Promise<void> {
    this.#memory.keepOnly(group, new Set(standing.map(({ slot }) => slot)))
    for (const { slot, about, type, reason, note, ...repetition } of standing) {
      if (about === undefined) continue
      const text = { type, reason, note }
      const remembered = this.#memory.admit(about, text, { ...repetition, group, slot })
      if (remembered !== undefined) await this.#write(about, text, remembered)
    }
  }

  /** For several that are recorded as one: which of them are new in their group. All are remembered, what is gone is forgotten. */
  newOf(group: string, slots: readonly string[]): readonly string[] {
    this.#memory.keepOnly(group, new Set(slots))
    return slots.filter((slot) => this.isChange({ group, slot, state: '' }))
  }

  /** Whether it would be recorded, and remembers it as if it were: for what is costly to say, or is said about several objects. */
  isChange(topic: Topic & { readonly state: string }): boolean {
    return this.#memory.isChange(topic, topic.state)
  }

  /** The event was recorded by the process before this one. Changes nothing where this process has recorded on the topic. */
  assume(topic: Topic & { readonly state: string }, reason = ''): void {
    if (!this.knows(topic)) this.#memory.put(topic, topic.state, reason)
  }

  knows(topic: Pick<Topic, 'group' | 'slot'>): boolean {
    return this.#memory.get(topic) !== undefined
  }

  /** Reason of the last event on the topic. */
  lastReason(topic: Pick<Topic, 'group' | 'slot'>): string | undefined {
    return this.#memory.get(topic)?.reason
  }

  /** From now on it is new again. */
  forget(group: string, slot?: string): void {
    this.#memory.forget(group, slot)
  }

  async #write(about: EventSubject, text: EventText<R>, remembered: RememberedEvent): Promise<true> {
    try {
      this.#options.onRecord?.(about, text)
      await this.#options.write(about, text)
    } catch (error) {
      this.#memory.noteRefused(remembered)
      this.#options.onRefused?.(about, text, error)
    }
    return true
  }
}

/** Writes into the cluster. */
export function eventWriter({ api, ...source }: EventSource & { readonly api: Pick<KubeApi, 'create'> }): EventWriter {
  return (about, text) => api.create(events, buildEvent(about, text, source))
}
