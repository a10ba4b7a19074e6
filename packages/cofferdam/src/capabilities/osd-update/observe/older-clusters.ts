import { type Clock, type Moment, momentOf, passedMs } from '@cofferdam/kubernetes/runtime/clock.ts'

interface Older {
  readonly uid: string | undefined
  readonly generation: number | undefined
  readonly since: Moment
}

/** For how long each CephCluster has been seen as older than what is on record of it. Whoever takes over begins to count anew. */
export class OlderClusters {
  readonly #clock: Clock
  readonly #seen = new Map<string, Older>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  forget(key: string): void {
    this.#seen.delete(key)
  }

  /** A server that catches up shows another generation, and is given its time anew. */
  olderForMs(key: string, { uid, generation }: { readonly uid?: string; readonly generation?: number }): number {
    const before = this.#seen.get(key)
    if (before !== undefined && before.uid === uid && before.generation === generation)
      return passedMs(this.#clock, before.since)
    this.#seen.set(key, { uid, generation, since: momentOf(this.#clock) })
    return 0
  }
}
