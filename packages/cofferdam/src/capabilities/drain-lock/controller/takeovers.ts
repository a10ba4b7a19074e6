import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { entriesOf, type Ledger } from '../../../ledger/rules/ledger.ts'
import { heartbeat } from '../domain/orphans.ts'

/**
 * Knows which requests this process has held, and whether another process has taken one of them over from it.
 *
 * A process that was replaced and does not know it yet would otherwise take back what was taken from it, with an epoch that
 * voids that of its successor, and so on.
 */
export class Takeovers {
  readonly #clock: Pick<Clock, 'now'>
  readonly #silentMs: number
  /** The highest epoch under which this process has held each request. */
  readonly #held = new Map<string, number>()
  readonly #seen = new Map<string, { readonly beat: string | undefined; readonly atMs: number }>()

  /** A successor that shows no heartbeat for so long is gone too. */
  constructor(clock: Pick<Clock, 'now'>, silentMs: number) {
    this.#clock = clock
    this.#silentMs = silentMs
  }

  /** This process holds it from now on. */
  note(id: string, epoch: number): void {
    this.#held.set(id, epoch)
    this.#seen.delete(id)
  }

  /** Takes in what the ledger shows now. True while somebody who took the request over from this very process lives. */
  isReplaced(ledger: Ledger, { id, holder }: { readonly id: string; readonly holder: string }): boolean {
    const [entry] = entriesOf(ledger, id)
    if (entry === undefined) return false
    if (entry.holder === holder) {
      this.note(id, entry.epoch)
      return false
    }
    const epoch = this.#held.get(id)
    if (epoch === undefined || entry.epoch <= epoch || entry.state === 'Orphaned') return false
    const beat = heartbeat(ledger, id)
    const before = this.#seen.get(id)
    const nowMs = this.#clock.now()
    // A clock that was turned back begins to count again: else a successor that died is waited for until it has caught up.
    if (before === undefined || before.beat !== beat || before.atMs > nowMs) {
      this.#seen.set(id, { beat, atMs: nowMs })
      return true
    }
    return nowMs - before.atMs < this.#silentMs
  }

  forget(id: string): void {
    this.#held.delete(id)
    this.#seen.delete(id)
  }
}
