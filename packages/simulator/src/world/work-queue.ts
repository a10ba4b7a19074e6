import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

export interface WorkQueue {
  add(key: string): void
  /** Adds the key later; of several times for one key the earliest counts. */
  addAfter(key: string, delayMs: number): void
  stop(): void
}

export interface WorkQueueOptions {
  readonly clock: Clock
  /** Brings one key to where it should be. Called again with backoff when it throws. */
  readonly work: (key: string) => Promise<void>
  /** Added keys wait this long, so that a burst of changes becomes one reconcile. */
  readonly delayMs?: number
  readonly concurrency?: number
  readonly onFailure?: (key: string, error: unknown) => void
}

const firstRetryMs = 5
const longestRetryMs = 60_000

/**
 * Keys to work on, each once however often it was added.
 *
 * Guarantees: one key is never worked on twice at a time; keys start in the order in which they were added; a key that
 * is added while it is worked on is worked on again; every round costs time on the clock, so two actors that disagree
 * cannot spin in one instant.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, work, delayMs = 1, concurrency = 1 } = options
  const pending = new Set<string>()
  const running = new Set<string>()
  const failures = new Map<string, number>()
  const timers = new Map<string, { readonly at: number; readonly cancel: () => void }>()
  let round: string[] = []
  let next = 0
  let cancelRound: (() => void) | undefined
  let stopped = false

  function arm(): void {
    if (stopped || cancelRound !== undefined || next < round.length || pending.size === 0) return
    cancelRound = clock.after(delayMs, () => {
      cancelRound = undefined
      round = [...pending].filter((key) => !running.has(key))
      next = 0
      for (const key of round) pending.delete(key)
      pump()
    })
  }

  function pump(): void {
    while (!stopped && running.size < concurrency && next < round.length) void run(round[next++] as string)
    // Keys that are running wait in `pending` until their run ends, which arms the next round.
    let waiting = pending.size
    for (const key of running) if (pending.has(key)) waiting -= 1
    if (waiting > 0) arm()
  }

  async function run(key: string): Promise<void> {
    running.add(key)
    try {
      await work(key)
      failures.delete(key)
    } catch (error) {
      if (!stopped) retry(key, error)
    }
    running.delete(key)
    pump()
  }

  function retry(key: string, error: unknown): void {
    const failed = failures.get(key) ?? 0
    failures.set(key, failed + 1)
    options.onFailure?.(key, error)
    addAfter(key, Math.min(firstRetryMs * 2 ** Math.min(failed, 30), longestRetryMs))
  }

  function add(key: string): void {
    if (stopped) return
    pending.add(key)
    if (!running.has(key)) arm()
  }

  function addAfter(key: string, delay: number): void {
    if (stopped) return
    const at = clock.now() + delay
    const set = timers.get(key)
    if (set !== undefined && set.at <= at) return
    set?.cancel()
    const cancel = clock.after(delay, () => {
      timers.delete(key)
      add(key)
    })
    timers.set(key, { at, cancel })
  }

  return {
    add,
    addAfter,
    stop() {
      stopped = true
      cancelRound?.()
      for (const { cancel } of timers.values()) cancel()
      timers.clear()
      pending.clear()
    },
  }
}
