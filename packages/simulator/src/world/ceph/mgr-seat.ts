import type { Timers } from './timers.ts'

export interface MgrSeatPorts {
  readonly timers: Timers
  readonly startMs: number
  readonly failoverMs: number
  readonly aliveMgrs: () => readonly string[]
  /** The active one has gone; what it knew last is all that the mons have. */
  readonly onLost: () => void
  /** One is active that has heard of nothing yet. */
  readonly onTaken: () => void
}

/** The active mgr, and who stands by. */
export class MgrSeat {
  readonly #ports: MgrSeatPorts
  #active: string | undefined
  #epoch = 5
  #killedUntilMs = 0
  #cancel: (() => void) | undefined

  constructor(ports: MgrSeatPorts) {
    this.#ports = ports
  }

  get active(): string | undefined {
    return this.#active
  }

  get epoch(): number {
    return this.#epoch
  }

  get standbys(): number {
    return this.#ports.aliveMgrs().filter((name) => name !== this.#active).length
  }

  /** A mgr that runs when the cluster is first seen has been active before. */
  begin(): void {
    this.#active = this.#ports.aliveMgrs()[0]
  }

  get #isKilled(): boolean {
    return this.#ports.timers.now() < this.#killedUntilMs
  }

  refresh(): void {
    const { timers, aliveMgrs, startMs, failoverMs, onLost, onTaken } = this.#ports
    const alive = this.#isKilled ? [] : aliveMgrs()
    if (this.#active !== undefined && alive.includes(this.#active)) return
    const hadOne = this.#active !== undefined
    if (hadOne) {
      this.#active = undefined
      this.#epoch += 1
      onLost()
    }
    if (alive.length === 0 || this.#cancel !== undefined) return
    this.#cancel = timers.after(hadOne ? failoverMs : startMs, () => {
      this.#cancel = undefined
      const [next] = this.#isKilled ? [] : aliveMgrs()
      if (next === undefined) return
      this.#active = next
      this.#epoch += 1
      onTaken()
    })
  }

  /** All mgr processes die and stay away for a while, whatever their pods say. */
  kill(forMs: number): void {
    const { timers } = this.#ports
    this.#killedUntilMs = Math.max(this.#killedUntilMs, timers.now() + forMs)
    this.refresh()
    timers.after(forMs, () => this.refresh())
  }
}
