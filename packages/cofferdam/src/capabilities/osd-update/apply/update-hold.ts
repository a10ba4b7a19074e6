import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { arbiterOf, storageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import { type Acquired, LedgerHold } from '../../../ledger/store/ledger-hold.ts'
import type { HeldLedger } from '../../../ledger/store/storage-ledger.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import {
  type SteppedAside,
  stepAside,
  type UpdateClaim,
  type UpdateId,
  updateHold,
  withThoseWhoWaited,
} from '../domain/hold-for-update.ts'
import type { OsdUpdateSnapshot } from '../domain/snapshot.ts'
import { updateClaimOf } from '../domain/update-claim.ts'

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

  /**
   * What the ledger says of the cluster; nothing where there is none. `learned`: what it said when something was to be acquired,
   * which is newer than what was seen.
   */
  observe(cluster: UpdateId, learned?: Observed<Ledger>): Pick<OsdUpdateSnapshot, 'arbiter'> {
    const { arbiter } = storageArbiter(learned ?? this.#hold.observe(), cluster)
    if (arbiter?.known !== true) return arbiter === undefined ? {} : { arbiter }
    return { arbiter: known(withThoseWhoWaited(arbiter.value, this.#aside.get(cluster.uid), this.#clock.now())) }
  }

  /** Whether what an update wants is held under the epoch of this process, as far as was seen. */
  isHeld(cluster: UpdateId): boolean {
    return this.#hold.isHeld(cluster, updateClaimOf(cluster))
  }

  acquire(cluster: UpdateId, claim: UpdateClaim, signal: AbortSignal): Promise<Acquired> {
    return this.#hold.acquire(cluster, claim, signal)
  }

  /** Releases what is not needed any more, or renews its heartbeat. Returns what could not be done. */
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
}
