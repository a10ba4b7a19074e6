import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/** Who of the mons agrees on maps. */
export class MonQuorum {
  readonly #clock: Clock
  readonly #known: Set<string>
  readonly #isAlive: (mon: string) => boolean
  #alive: readonly string[] = []
  #electionEpoch = 2
  sinceMs: number

  constructor(ports: { clock: Clock; known: readonly string[]; isAlive: (mon: string) => boolean }) {
    this.#clock = ports.clock
    this.#known = new Set(ports.known)
    this.#isAlive = ports.isAlive
    this.sinceMs = ports.clock.now()
  }

  /** In the mon map, by rank. */
  get known(): readonly string[] {
    return [...this.#known].sort()
  }

  /** Mons in the quorum; none without a majority. */
  get members(): readonly string[] {
    return this.hasQuorum ? this.#alive : []
  }

  get hasQuorum(): boolean {
    return this.#alive.length > 0 && this.#alive.length * 2 > this.#known.size
  }

  get electionEpoch(): number {
    return this.#electionEpoch
  }

  /** A mon came or went. Returns whether there is a quorum that was not there before. */
  refresh(mon: string, isNewKnown: boolean): boolean {
    if (isNewKnown) this.#known.add(mon)
    const had = this.hasQuorum
    const alive = this.known.filter((name) => this.#isAlive(name))
    if (alive.join() === this.#alive.join()) return false
    this.#alive = alive
    this.#electionEpoch += 2
    this.sinceMs = this.#clock.now()
    return !had && this.hasQuorum
  }
}
