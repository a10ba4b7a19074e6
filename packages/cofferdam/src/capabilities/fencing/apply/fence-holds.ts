import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type HoldFailure, LedgerHold } from '../../../ledger/store/ledger-hold.ts'
import type { HeldLedger } from '../../../ledger/store/storage-ledger.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Fence } from '../domain/decision.ts'
import { fenceHold, fenceRequestId, formerRequestId, neededHolds, unneededHolds } from '../domain/hold-fence.ts'

/** What fences hold in the ledger, and which of it was released though the view of the ledger still shows it. */
export class FenceHolds {
  readonly #hold: LedgerHold<string, Fence>
  /** Requests that are about to be released, or just were. */
  readonly #released = new Set<string>()

  constructor(clock: Clock, ledger: HeldLedger | undefined) {
    this.#hold = new LedgerHold(clock, ledger, fenceHold)
  }

  /** Holds the key for every fence that is not over, and renews its heartbeat. Returns what could not be held. */
  async hold(
    fences: readonly Fence[],
    signal: AbortSignal,
  ): Promise<{ readonly problems: readonly ObjectProblem[]; readonly failure?: HoldFailure }> {
    const needed = neededHolds(fences)
    const answer = await this.#hold.hold(
      [...needed].map(([id, wanted]) => ({ id, wanted })),
      signal,
    )
    if (answer.failure !== undefined) return answer
    for (const id of needed.keys()) this.#released.delete(id)
    for (const [id, fence] of needed) {
      const former = formerRequestId(fence)
      if (former !== undefined && this.#hold.epochOf(id) !== undefined) this.#released.add(former)
    }
    return answer
  }

  /** Releases whatever no fence needs any more. To be called when everything else has been written. */
  async release(fences: readonly Fence[], signal: AbortSignal): Promise<{ readonly failure?: HoldFailure }> {
    const needed = neededHolds(fences)
    const seen = this.#hold.observe()
    if (seen?.known !== true) return {}
    const answer = await this.#hold.release((ledger) => unneededHolds(ledger, needed), signal)
    if (answer.failure !== undefined) return answer
    for (const id of this.#released) {
      if (!seen.value.entries.some(({ requestId }) => requestId === id)) this.#released.delete(id)
    }
    for (const id of unneededHolds(seen.value, needed)) this.#released.add(id)
    this.#hold.forget((id) => !needed.has(id))
    return answer
  }

  /** What is over is not held for anything any more, though it is released only when everything else has been written. */
  noteEnded(fences: readonly Fence[]): void {
    const needed = neededHolds(fences)
    for (const id of fences.map(fenceRequestId)) if (!needed.has(id)) this.#released.add(id)
  }

  isReleased(requestId: string): boolean {
    return this.#released.has(requestId)
  }

  recheckAfterSeconds(): number | undefined {
    return this.#hold.recheckAfterSeconds()
  }
}
