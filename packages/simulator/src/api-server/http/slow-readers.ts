import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

export interface SlowReaderLimits {
  /** A caller that reads nothing for so long is cut off. */
  readonly longestStallMs: number
  /** So much may wait for all callers together; above it those that have not read for longest are cut off, but the last of them. */
  readonly mostBytes: number
}

const defaultSlowReaderLimits: SlowReaderLimits = { longestStallMs: 60_000, mostBytes: 64 * 1024 * 1024 }

/**
 * Callers that are sent more than they read. What they have not read is held in memory, so a few hundred that never read would fill it.
 *
 * Guarantees: nobody waits longer, and two or more together hold no more, than the limits say. One list may be larger than the limit: cut off
 * for that, it would be asked for again and never be read. A caller that is cut off can connect and ask again, as clients do with every watch
 * that ends.
 */
export class SlowReaders {
  readonly #clock: Clock
  readonly #limits: SlowReaderLimits
  /** With the bytes that wait; those that wait longest come first. */
  readonly #waiting = new Map<ServerResponse, number>()
  #bytes = 0

  constructor(clock: Clock, limits: SlowReaderLimits = defaultSlowReaderLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Waits until the caller has read, or is gone. @throws AbortError with the signal */
  async wait(response: ServerResponse, event: 'drain' | 'finish', signal: AbortSignal): Promise<void> {
    const bytes = response.writableLength
    this.#waiting.set(response, bytes)
    this.#bytes += bytes
    const stopWaiting = this.#clock.after(this.#limits.longestStallMs, () => response.destroy())
    const read = once(response, event, { signal })
    this.#cutOffLongest()
    try {
      await read
    } finally {
      stopWaiting()
      this.#forget(response)
    }
  }

  #cutOffLongest(): void {
    for (const response of this.#waiting.keys()) {
      if (this.#bytes <= this.#limits.mostBytes || this.#waiting.size === 1) return
      this.#forget(response)
      response.destroy()
    }
  }

  #forget(response: ServerResponse): void {
    this.#bytes -= this.#waiting.get(response) ?? 0
    this.#waiting.delete(response)
  }
}
