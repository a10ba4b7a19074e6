import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { arbiterOf, storageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import { LedgerHold } from '../../../ledger/store/ledger-hold.ts'
import type { HeldLedger } from '../../../ledger/store/storage-ledger.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import type { OsdUpdateDecision } from '../domain/decision.ts'
import {
  type SteppedAside,
  stepAside,
  type UpdateClaim,
  type UpdateId,
  updateHold,
  withThoseWhoWaited,
} from '../domain/hold-for-update.ts'
import type { OsdUpdateSnapshot } from '../domain/snapshot.ts'

/** What updates hold in the ledger, and whom they have just stepped aside for. */
export class UpdateHold {
  readonly #clock: Clock
  readonly #hold: LedgerHold<UpdateId, UpdateClaim>
  /** By the uid of the cluster. */
  readonly #aside = new Map<string, SteppedAside>()

  constructor(clock: Clock, ledger: HeldLedger | undefined) {
    this.#clock = clock
    this.#hold = new LedgerHold(clock, ledger, updateHold)
  }

  /** What the ledger says of the cluster; nothing where there is none. */
  observe(cluster: UpdateId): Pick<OsdUpdateSnapshot, 'arbiter'> {
    return this.#arbiterIn(this.#hold.observe(), cluster)
  }

  /** Guarantees: what is told starts nothing without the hold, but where the cluster has no ledger at all. */
  decide(
    seen: OsdUpdateSnapshot,
    decide: (snapshot: OsdUpdateSnapshot) => OsdUpdateDecision,
    signal: AbortSignal,
  ): Promise<{ readonly snapshot: OsdUpdateSnapshot; readonly decision: OsdUpdateDecision }> {
    return this.#hold.decide(
      seen.cluster,
      (ledger) => {
        const snapshot = { ...seen, ...this.#arbiterIn(ledger, seen.cluster) }
        return { snapshot, decision: decide(snapshot) }
      },
      ({ decision: { claim } }) => (claim?.wants === 'hold' ? claim : undefined),
      signal,
    )
  }

  /** Releases what is not needed any more, or shows that its holder lives. Tells what could not be done. */
  async settle(cluster: UpdateId, wants: 'release' | 'keep', signal: AbortSignal): Promise<ObjectProblem | undefined> {
    const { freed, failure } = await this.#hold.settle(cluster, wants, signal)
    const aside = freed && stepAside(arbiterOf(freed, cluster), this.#clock.now())
    if (aside !== undefined) this.#aside.set(cluster.uid, aside)
    return failure
  }

  holds(cluster: UpdateId): boolean {
    return this.#hold.holds(cluster)
  }

  recheckAfterSeconds(cluster: UpdateId): number | undefined {
    return this.#hold.recheckAfterSeconds(cluster)
  }

  #arbiterIn(ledger: Observed<Ledger> | undefined, cluster: UpdateId): Pick<OsdUpdateSnapshot, 'arbiter'> {
    const { arbiter } = storageArbiter(ledger, cluster)
    if (arbiter?.known !== true) return arbiter === undefined ? {} : { arbiter }
    return { arbiter: known(withThoseWhoWaited(arbiter.value, this.#aside.get(cluster.uid), this.#clock.now())) }
  }
}
