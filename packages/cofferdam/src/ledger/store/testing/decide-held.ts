import { performPass } from '../../../capabilities/interpreter.ts'
import { type Observed, unknown } from '../../../shared/observed.ts'
import type { Ledger } from '../../rules/ledger.ts'
import type { LedgerHold } from '../ledger-hold.ts'

const mostRefusals = 3

interface Acquire<Wanted> {
  readonly do: 'hold'
  readonly wanted: Wanted
  readonly refusals: number
}

/**
 * A pass as holders make it: decides, acquires what the decision wants, and decides again on what the ledger says where that is refused.
 * The answer wants nothing that is not held, but where the cluster has no ledger at all.
 */
export async function decideHeld<Id, Wanted, D>(
  hold: LedgerHold<Id, Wanted>,
  id: Id,
  decide: (ledger: Observed<Ledger> | undefined) => D,
  wantedBy: (decision: D) => Wanted | undefined,
  signal: AbortSignal,
): Promise<D> {
  let ledger = hold.observe()
  let refusals = 0
  const { decision } = await performPass({
    observe: async () => ({ ledger: refusals < mostRefusals ? ledger : unknown('it changes all the time') }),
    decide(snapshot: { readonly ledger: Observed<Ledger> | undefined }): {
      readonly decided: D
      readonly steps: readonly Acquire<Wanted>[]
    } {
      const decided = decide(snapshot.ledger)
      const wanted = snapshot.ledger === undefined ? undefined : wantedBy(decided)
      const isHeld = wanted === undefined || hold.isHeld(id, wanted)
      return { decided, steps: isHeld ? [] : [{ do: 'hold', wanted, refusals }] }
    },
    perform: {
      async hold({ wanted }: Acquire<Wanted>) {
        const acquired = await hold.acquire(id, wanted, signal)
        if (acquired.outcome !== 'refused') return 'done'
        ledger = acquired.ledger
        refusals += 1
        return 'learned'
      },
    },
    signal,
  })
  return decision.decided
}
