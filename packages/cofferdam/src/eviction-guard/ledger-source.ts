import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type Clock, elapsedMs, type Moment, momentOf, passedMs } from '@cofferdam/kubernetes/runtime/clock.ts'
import { emptyLedger, type Ledger } from '../ledger/rules/ledger.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'

export interface LedgerSourceOptions {
  /** Follows the one ledger; what cannot be read in it is an unknown, not an empty ledger. */
  readonly view: Pick<WatchView<Observed<Ledger>>, 'ageMs' | 'list'>
  /** Reads it from the API server itself. */
  readonly read: (signal: AbortSignal) => Promise<Observed<Ledger>>
  readonly clock: Clock
  /** A copy that is older is not trusted without asking. Default 2 s. */
  readonly freshMs?: number
  /** How long one answer may take. Default 1 s: the API server waits for the guard no longer than three. */
  readonly patienceMs?: number
  /** After a failure, or after somebody needed the very latest, the server is left alone for so long. Default 250 ms. */
  readonly pauseMs?: number
}

export interface LedgerSource {
  /** As it was at most `freshMs` ago. */
  current(): Observed<Ledger> | Promise<Observed<Ledger>>
  /** Read after this call; unknown when it was read just before, since then it is not read again. */
  renewed(): Promise<Observed<Ledger>>
}

/**
 * Gives the ledger, or says why it cannot.
 *
 * Guarantees: however many ask, one read is under way at most, and all that came while it ran share its answer.
 */
export function createLedgerSource(options: LedgerSourceOptions): LedgerSource {
  const { view, read, clock, freshMs = 2_000, patienceMs = 1_000, pauseMs = 250 } = options
  let asked: { readonly at: Moment; readonly ledger: Observed<Ledger> } | undefined
  let underWay: Promise<Observed<Ledger>> | undefined
  let failedAt: Moment | undefined
  const hasJustFailed = () => failedAt !== undefined && passedMs(clock, failedAt) < pauseMs

  async function ask(): Promise<Observed<Ledger>> {
    const at = momentOf(clock)
    const deadline = new AbortController()
    let cancel = () => {}
    const late = new Promise<Observed<Ledger>>((resolve) => {
      cancel = clock.after(patienceMs, () => {
        resolve(unknown('the API server did not give the ledger in time'))
        deadline.abort()
      })
    })
    const reading = read(deadline.signal).catch((error: unknown) =>
      unknown(`the ledger could not be read: ${error instanceof Error ? error.message : String(error)}`),
    )
    const ledger = await Promise.race([reading, late])
    cancel()
    underWay = undefined
    if (ledger.known) asked = { at, ledger }
    else failedAt = momentOf(clock)
    return ledger
  }

  function current(): Observed<Ledger> | Promise<Observed<Ledger>> {
    if (view.ageMs() <= freshMs) {
      const [seen] = view.list()
      // A server without the object has never granted anything.
      return seen ?? known(emptyLedger)
    }
    if (asked !== undefined && passedMs(clock, asked.at) <= freshMs) return asked.ledger
    if (underWay === undefined && hasJustFailed()) return unknown('the ledger could not be read a moment ago')
    underWay ??= ask()
    return underWay
  }

  async function renewed(): Promise<Observed<Ledger>> {
    const calledAt = elapsedMs(clock)
    // One that began before may not know what the caller knows.
    await underWay
    if (asked !== undefined && asked.at.elapsedMs > calledAt) return asked.ledger
    if (underWay === undefined) {
      if (hasJustFailed() || (asked !== undefined && passedMs(clock, asked.at) < pauseMs)) {
        return unknown('the ledger was read a moment ago')
      }
    }
    underWay ??= ask()
    return underWay
  }

  return { current, renewed }
}
