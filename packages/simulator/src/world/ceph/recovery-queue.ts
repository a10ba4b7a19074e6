import type { PlacementGroup } from './placement-group.ts'
import type { Timers } from './timers.ts'

interface Job {
  readonly group: PlacementGroup
  /** In whole placement groups. */
  readonly cost: number
  left: number
  sinceMs: number
  cancel: (() => void) | undefined
}

/** Placement groups whose copies are brought up to date, a few at a time and no faster than the rate. */
export class RecoveryQueue {
  readonly #timers: Timers
  readonly #mayRun: (group: PlacementGroup) => boolean
  readonly #onStart: (group: PlacementGroup) => void
  readonly #onDone: (group: PlacementGroup) => void
  readonly #waiting = new Map<PlacementGroup, Job>()
  readonly #running = new Map<PlacementGroup, Job>()
  #rate: number

  constructor(ports: {
    timers: Timers
    /** Whole groups per second, all together. */
    rate: number
    mayRun: (group: PlacementGroup) => boolean
    onStart: (group: PlacementGroup) => void
    onDone: (group: PlacementGroup) => void
  }) {
    this.#timers = ports.timers
    this.#rate = ports.rate
    this.#mayRun = ports.mayRun
    this.#onStart = ports.onStart
    this.#onDone = ports.onDone
  }

  get #slots(): number {
    return this.#rate > 0 ? Math.max(1, Math.floor(this.#rate)) : 0
  }

  get #speed(): number {
    return this.#slots === 0 ? 0 : this.#rate / this.#slots
  }

  add(group: PlacementGroup, cost: number): void {
    this.#waiting.set(group, { group, cost, left: cost, sinceMs: 0, cancel: undefined })
  }

  /** Takes a group out and returns how much of its work is done: 0 to 1. */
  remove(group: PlacementGroup): number {
    const done = this.progress(group)
    this.#waiting.delete(group)
    this.#running.get(group)?.cancel?.()
    this.#running.delete(group)
    return done
  }

  progress(group: PlacementGroup): number {
    const job = this.#running.get(group) ?? this.#waiting.get(group)
    if (job === undefined) return 0
    return Math.min(1, 1 - this.#leftOf(job) / job.cost)
  }

  setRate(rate: number): void {
    for (const job of this.#running.values()) this.#pause(job)
    this.#rate = rate
    for (const job of this.#running.values()) this.#resume(job)
    this.start()
  }

  /** Gives free places to those that wait. */
  start(): void {
    for (const job of this.#waiting.values()) {
      if (this.#running.size >= this.#slots) return
      if (!this.#mayRun(job.group)) continue
      this.#waiting.delete(job.group)
      this.#running.set(job.group, job)
      this.#resume(job)
      this.#onStart(job.group)
    }
  }

  #leftOf(job: Job): number {
    if (job.cancel === undefined) return job.left
    return Math.max(0, job.left - ((this.#timers.now() - job.sinceMs) / 1_000) * this.#speed)
  }

  #pause(job: Job): void {
    job.left = this.#leftOf(job)
    job.cancel?.()
    job.cancel = undefined
  }

  #resume(job: Job): void {
    if (this.#speed === 0) return
    job.sinceMs = this.#timers.now()
    job.cancel = this.#timers.after(Math.ceil((job.left / this.#speed) * 1_000), () => {
      this.#running.delete(job.group)
      this.#onDone(job.group)
      this.start()
    })
  }
}
