import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { WatchEvent } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ChangeCursor } from '../store/change-cursor.ts'

type Step = IteratorResult<WatchEvent, undefined>

export interface WatchStreamOptions {
  readonly cursor: ChangeCursor
  /** The state to begin with, as ADDED events. */
  readonly initial: Iterator<KubeObject>
  /** What follows that state, before anything that came later. */
  readonly afterInitial?: WatchEvent
  /** The next event, or undefined when the cursor has none yet. */
  readonly take: () => WatchEvent | undefined
  readonly onClose: () => void
}

const end: Step = { done: true, value: undefined }

/** Events for one watcher, as fast as it asks for them. Holds no queue: what is not read yet stays in the change log. */
export class WatchStream implements AsyncIterableIterator<WatchEvent, undefined> {
  readonly #options: WatchStreamOptions
  #isInitial = true
  #isClosed = false
  #bookmark: (() => WatchEvent) | undefined
  #waiting: ((step: Step) => void) | undefined

  constructor(options: WatchStreamOptions) {
    this.#options = options
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Step> {
    const step = this.#step()
    if (step !== undefined) return Promise.resolve(step)
    return new Promise((resolve) => {
      this.#waiting = resolve
      this.#options.cursor.sleep(() => this.#wake())
    })
  }

  return(): Promise<Step> {
    this.close()
    return Promise.resolve(end)
  }

  /** Sent once everything before it has been read. */
  sendBookmark(bookmark: () => WatchEvent): void {
    this.#bookmark = bookmark
    if (this.#waiting !== undefined) this.#wake()
  }

  /** Ends the stream; what was not read is not sent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#options.cursor.close()
    this.#options.onClose()
    this.#wake()
  }

  #wake(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    const step = this.#step()
    if (step === undefined) {
      this.#options.cursor.sleep(() => this.#wake())
      return
    }
    this.#waiting = undefined
    waiting(step)
  }

  #step(): Step | undefined {
    if (this.#isClosed) return end
    if (this.#isInitial) {
      const { done, value } = this.#options.initial.next()
      if (done !== true) return { done: false, value: { type: 'ADDED', object: value } }
      this.#isInitial = false
      if (this.#options.afterInitial !== undefined) return { done: false, value: this.#options.afterInitial }
    }
    const event = this.#options.take() ?? this.#takeBookmark()
    if (event !== undefined) return { done: false, value: event }
    if (!this.#options.cursor.hasEnded) return undefined
    this.close()
    return end
  }

  #takeBookmark(): WatchEvent | undefined {
    if (this.#options.cursor.hasEnded) return undefined
    const bookmark = this.#bookmark?.()
    this.#bookmark = undefined
    return bookmark
  }
}
