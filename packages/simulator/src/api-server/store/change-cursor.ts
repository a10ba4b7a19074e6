import type { Change, ChangeLog } from './change-log.ts'

/**
 * One reader's place in a change log. It holds a position, not a queue: however slow the reader, a writer pays at most
 * for one wake-up, and the memory is the log's.
 */
export class ChangeCursor {
  readonly #log: ChangeLog
  readonly #wants: (change: Change) => boolean
  readonly #onClose: () => void
  #position: number
  #wake: (() => void) | undefined
  #ended = false

  constructor(options: {
    log: ChangeLog
    position: number
    wants: (change: Change) => boolean
    onClose: () => void
  }) {
    this.#log = options.log
    this.#position = options.position
    this.#wants = options.wants
    this.#onClose = options.onClose
  }

  /** True when changes were overwritten before they were read, or the resource is gone: there is no going on. */
  get hasEnded(): boolean {
    return this.#ended || this.#position < this.#log.first
  }

  /** The next wanted change, or undefined when there is none yet. */
  take(): Change | undefined {
    if (this.hasEnded) return undefined
    while (this.#position < this.#log.next) {
      const change = this.#log.at(this.#position) as Change
      this.#position += 1
      if (this.#wants(change)) return change
    }
    return undefined
  }

  /** Calls back once, as soon as `take` would return something or the cursor ends. Assumes: `take` just found nothing. */
  sleep(wake: () => void): void {
    if (this.hasEnded) wake()
    else this.#wake = wake
  }

  notice(change: Change): void {
    const wake = this.#wake
    if (wake === undefined) return
    if (!this.#wants(change)) {
      this.#position = this.#log.next
      return
    }
    this.#wake = undefined
    wake()
  }

  end(): void {
    this.#ended = true
    const wake = this.#wake
    this.close()
    wake?.()
  }

  close(): void {
    this.#wake = undefined
    this.#onClose()
  }
}
