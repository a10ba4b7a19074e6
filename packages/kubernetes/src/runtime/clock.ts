/** Time as it is handed to everything that waits. Milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** Milliseconds since some moment, which are never turned back or put forward. Where a clock has none, `now` counts as that. */
  elapsed?(): number
  /** Calls back once, `delayMs` from now; the returned function takes it back. */
  after(delayMs: number, callback: () => void): () => void
}

/** What has passed between two of these has really passed, whatever was done to the clock. */
export function elapsedMs(clock: Clock): number {
  return clock.elapsed?.() ?? clock.now()
}

/** When something was, by both hands of a clock. */
export interface Moment {
  readonly atMs: number
  readonly elapsedMs: number
}

export function momentOf(clock: Clock): Moment {
  return { atMs: clock.now(), elapsedMs: elapsedMs(clock) }
}

/** What has passed since, by the hand that says more: one can be turned back, and the other stands still while a machine sleeps. */
export function passedMs(clock: Clock, since: Moment): number {
  return Math.max(clock.now() - since.atMs, elapsedMs(clock) - since.elapsedMs)
}

/** Resolves after the delay, or at once when the signal fires. Never rejects: check the signal. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = () => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(delayMs, wake)
    signal?.addEventListener('abort', wake, { once: true })
  })
}

/** RFC 3339 with whole seconds, as `metadata` and most conditions carry it. */
export function timestamp(clock: Pick<Clock, 'now'>): string {
  const second = Math.floor(clock.now() / 1_000)
  if (second !== last.second) last = { second, text: `${new Date(second * 1_000).toISOString().slice(0, 19)}Z` }
  return last.text
}

/** Much is stamped within one second. */
let last = { second: Number.NaN, text: '' }

/** RFC 3339 with microseconds, as Leases carry it. */
export function microTimestamp(clock: Pick<Clock, 'now'>): string {
  return `${new Date(clock.now()).toISOString().slice(0, 23)}000Z`
}
