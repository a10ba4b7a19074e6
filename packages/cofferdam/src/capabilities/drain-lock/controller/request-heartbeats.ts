import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { heartbeat } from '../domain/orphans.ts'

/** Times, by this process's own clock, for how long each request in the ledger has shown no heartbeat. */
export class RequestHeartbeats {
  readonly #clock: Clock
  readonly #seen = new Map<string, { readonly beat: string | undefined; readonly atMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many requests are being timed. */
  get size(): number {
    return this.#seen.size
  }

  /** Takes in what the ledger shows now. The living manage themselves. */
  note(ledger: Ledger, living: ReadonlySet<string>): void {
    const ids = new Set([...ledger.entries, ...ledger.tickets].map(({ requestId }) => requestId))
    for (const id of this.#seen.keys()) if (!ids.has(id) || living.has(id)) this.#seen.delete(id)
    for (const id of ids) {
      if (living.has(id)) continue
      const beat = heartbeat(ledger, id)
      const before = this.#seen.get(id)
      if (before === undefined || before.beat !== beat) this.#seen.set(id, { beat, atMs: this.#clock.now() })
    }
  }

  unchanged(): ReadonlyMap<string, { readonly beat: string | undefined; readonly unchangedMs: number }> {
    const nowMs = this.#clock.now()
    return new Map([...this.#seen].map(([id, { beat, atMs }]) => [id, { beat, unchangedMs: nowMs - atMs }]))
  }
}
