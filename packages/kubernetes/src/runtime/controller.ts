import { setMaxListeners } from 'node:events'
import { type Clock, sleep } from './clock.ts'
import type { Random } from './random.ts'
import { WorkQueue } from './work-queue.ts'

export interface Controller {
  readonly name: string
  /**
   * Brings one key one step nearer to what it should be. Called again after a throw, with growing waits.
   * The signal fires when the controller stops or may no longer act.
   */
  reconcile(key: string, signal: AbortSignal): Promise<{ readonly recheckAfterSeconds?: number } | undefined>
  /**
   * Starts whatever says that a key needs work. Resolves when all that `reconcile` needs has been read and every key there is has been
   * added once; no key is worked on before, since what is not read yet would count as gone.
   */
  start(enqueue: (key: string) => void, signal: AbortSignal): Promise<void>
}

export type Outcome =
  | { readonly controller: string; readonly key: string; readonly result: 'done'; readonly tookMs: number }
  | {
      readonly controller: string
      readonly key: string
      readonly result: 'failed'
      readonly tookMs: number
      readonly error: unknown
      readonly retryInMs: number
    }

export interface RunControllerOptions {
  readonly clock: Clock
  readonly random: Random
  /** How many keys are worked on side by side. */
  readonly workers?: number
  readonly onOutcome?: (outcome: Outcome) => void
  /** How long work that has begun may take to end after a stop, before its signal fires. */
  readonly stopGraceMs?: number
}

export interface RunningController {
  readonly name: string
  readonly queue: Pick<WorkQueue, 'add' | 'depth'>
  /** True once everything has been read and every key queued. */
  isStarted(): boolean
  /** Takes no new work, lets what has begun end, then resolves. */
  stop(): Promise<void>
}

/** Runs a controller until it is stopped. A throw in one key is retried, and never stops another key. */
export function runController(controller: Controller, options: RunControllerOptions): RunningController {
  const { clock, random, workers = 1, onOutcome, stopGraceMs = 10_000 } = options
  const queue = new WorkQueue({ clock, random: random.stream(controller.name) })
  const sources = new AbortController()
  const work = new AbortController()
  // As many listen as there are views to wait for and keys under way; Node takes more than ten for a leak.
  setMaxListeners(0, sources.signal, work.signal)
  let started = false

  const starting = startWithRetries()
  const working = Array.from({ length: workers }, async () => {
    await starting
    await workUntilClosed()
  })

  async function startWithRetries(): Promise<void> {
    for (let failures = 1; !sources.signal.aborted; failures += 1) {
      const began = clock.now()
      try {
        await controller.start((key) => queue.add(key), sources.signal)
        started = true
        return
      } catch (error) {
        if (sources.signal.aborted) return
        const retryInMs = Math.min(30_000, 500 * 2 ** Math.min(failures, 10))
        const tookMs = clock.now() - began
        onOutcome?.({ controller: controller.name, key: '(start)', result: 'failed', tookMs, error, retryInMs })
        await sleep(clock, retryInMs, sources.signal)
      }
    }
  }

  async function workUntilClosed(): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      const began = clock.now()
      try {
        const result = await controller.reconcile(key, work.signal)
        queue.forgetFailures(key)
        if (result?.recheckAfterSeconds !== undefined) queue.addAfter(key, result.recheckAfterSeconds * 1_000)
        onOutcome?.({ controller: controller.name, key, result: 'done', tookMs: clock.now() - began })
      } catch (error) {
        const retryInMs = queue.addAfterFailure(key)
        const tookMs = clock.now() - began
        onOutcome?.({ controller: controller.name, key, result: 'failed', tookMs, error, retryInMs })
      } finally {
        queue.done(key)
      }
    }
  }

  return {
    name: controller.name,
    queue,
    isStarted: () => started,
    async stop() {
      sources.abort()
      queue.close()
      const ended = Promise.all([starting, ...working])
      const patience = new AbortController()
      void sleep(clock, stopGraceMs, patience.signal).then(() => work.abort())
      await ended
      patience.abort()
    },
  }
}
