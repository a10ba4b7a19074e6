import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { giveBackStorage, holdStorage, renewStorage } from '../../../ledger/rules/hold-storage.ts'
import type { Ledger, LedgerEntry } from '../../../ledger/rules/ledger.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import { arbiterOf, type StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import type { ClusterId, StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import { ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { CephDrainDecision } from '../domain/decision.ts'
import type { CephDrainSnapshot } from '../domain/snapshot.ts'

interface Held {
  readonly epoch: number
  readonly renewedAtMs: number
}

const mostAttempts = 3

/** The part that ceph-drain takes in the ledger: which failure domains of a cluster it holds, and what others hold of it. */
export class StorageKey {
  readonly #clock: Clock
  readonly #ledger: StorageLedger | undefined
  /** By `namespace/name` of the cluster. */
  readonly #held = new Map<string, Held>()

  constructor(clock: Clock, ledger: StorageLedger | undefined) {
    this.#clock = clock
    this.#ledger = ledger
  }

  /**
   * Decides, and holds what the decision wants to be held. What cannot be had is decided again, on what the ledger says now.
   *
   * Guarantees: what is told opens nothing that is not held first, but where the cluster has no ledger at all.
   */
  async decide(
    seen: CephDrainSnapshot,
    decide: (snapshot: CephDrainSnapshot) => Promise<CephDrainDecision>,
    signal: AbortSignal,
  ): Promise<{ readonly snapshot: CephDrainSnapshot; readonly decision: CephDrainDecision }> {
    if (this.#ledger === undefined) return { snapshot: seen, decision: await decide(seen) }
    let arbiter = this.#observe(this.#ledger, seen.cluster)
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const snapshot = { ...seen, arbiter }
      const decision = await decide(snapshot)
      const { claim } = decision
      if (claim?.wants !== 'hold' || this.#isHeld(arbiter, claim, seen.cluster)) return { snapshot, decision }
      const refusal = await this.#hold(this.#ledger, seen.cluster, claim, signal)
      if (refusal === undefined) return { snapshot, decision }
      arbiter = refusal
    }
    const snapshot = { ...seen, arbiter: unknown('it changes all the time') }
    return { snapshot, decision: await decide(snapshot) }
  }

  /**
   * Gives back what the decision does not need any more, or shows that its holder lives. To be called when everything that was
   * decided has been written. Tells what could not be done.
   */
  async settle(cluster: ClusterId, { claim }: CephDrainDecision, signal: AbortSignal): Promise<ObjectProblem[]> {
    const ledger = this.#ledger
    if (ledger === undefined) return []
    const held = this.#held.get(nameOf(cluster))
    const seen = this.#observe(ledger, cluster)
    if (held === undefined && !(seen.known && seen.value.own.length > 0)) return []
    const isOver = claim?.wants === 'release'
    if (!isOver && held !== undefined && this.#clock.now() - held.renewedAtMs < ledger.renewMs) return []
    const change = isOver ? giveBackStorage : renewStorage
    try {
      const epoch = await ledger.store.change(
        `${isOver ? 'give back' : 'renew'} storage/${nameOf(cluster)}`,
        (now) => {
          const outcome = change(now, { cluster, epoch: held?.epoch })
          return { ledger: outcome.ledger, value: outcome.epoch }
        },
        signal,
      )
      this.#note(cluster, epoch)
      return []
    } catch (error) {
      if (signal.aborted) throw error
      return [{ object: `disruptionledger/${ledgerName}`, problem: textOf(error) }]
    }
  }

  /** When to look again at the latest, so that whoever watches sees that the holder lives. */
  recheckAfterSeconds(cluster: ClusterId): number | undefined {
    const held = this.#held.get(nameOf(cluster))
    if (held === undefined || this.#ledger === undefined) return undefined
    return Math.max(1, Math.ceil((held.renewedAtMs + this.#ledger.renewMs - this.#clock.now()) / 1_000))
  }

  forget(key: string): void {
    this.#held.delete(key)
  }

  #isHeld(
    arbiter: Observed<StorageArbiter>,
    { requestId }: Extract<StorageClaim, { wants: 'hold' }>,
    cluster: ClusterId,
  ): boolean {
    if (!arbiter.known) return false
    const { own } = arbiter.value
    const epoch = this.#held.get(nameOf(cluster))?.epoch
    const isAsWanted = (entry: LedgerEntry) =>
      entry.requestId === requestId && entry.epoch === epoch && entry.state === 'Acting'
    return own.length === 1 && own.every(isAsWanted)
  }

  #observe({ view }: StorageLedger, cluster: ClusterId): Observed<StorageArbiter> {
    if (!view.synced) return unknown('the ledger has not been read yet')
    const ledger = parseLedger(view.get({ name: ledgerName }))
    return ledger.known ? known(arbiterOf(ledger.value, cluster)) : ledger
  }

  /** Undefined when it is held, else what the ledger says. */
  async #hold(
    { store }: StorageLedger,
    cluster: ClusterId,
    claim: Extract<StorageClaim, { wants: 'hold' }>,
    signal: AbortSignal,
  ): Promise<Observed<StorageArbiter> | undefined> {
    const now = timestamp(this.#clock)
    const epoch = this.#held.get(nameOf(cluster))?.epoch
    try {
      const { hold, arbiter } = await store.change(
        `hold ${claim.claim.key} for ${claim.claim.scope}`,
        (ledger: Ledger) => {
          const held = holdStorage(ledger, claim, { cluster, epoch, now })
          return { ledger: held.ledger, value: { hold: held.epoch, arbiter: arbiterOf(held.ledger, cluster) } }
        },
        signal,
      )
      if (hold === undefined) return known(arbiter)
      this.#note(cluster, hold)
      return undefined
    } catch (error) {
      if (signal.aborted) throw error
      // Where the kind is not installed nobody can hold anything.
      if (hasReason(error, 'NotFound')) return undefined
      return unknown(textOf(error))
    }
  }

  #note(cluster: ClusterId, epoch: number | undefined): void {
    if (epoch === undefined) this.#held.delete(nameOf(cluster))
    else this.#held.set(nameOf(cluster), { epoch, renewedAtMs: this.#clock.now() })
  }
}

function nameOf({ namespace, name }: Pick<ClusterId, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
