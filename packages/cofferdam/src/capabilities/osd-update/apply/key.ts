import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { adopt, entriesOf, type Ledger, renew } from '../../../ledger/rules/ledger.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import { arbiterOf, type StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import { updateRequestId } from '../../../ledger/rules/update-request.ts'
import type { StorageLedger } from '../../../ledger/store/storage-ledger.ts'
import { ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { OsdUpdateDecision } from '../domain/decision.ts'
import { giveBackAfterUpdate, holdForUpdate } from '../domain/hold-for-update.ts'
import type { OsdUpdateSnapshot, UpdatedCluster } from '../domain/snapshot.ts'

type ClusterId = Pick<UpdatedCluster, 'namespace' | 'name' | 'uid'>
type Hold = Extract<StorageClaim, { wants: 'hold' }>

const mostAttempts = 3
/** How long those who waited get to take what was given back to them: storage has to tell them first that their node may go. */
const asideMs = 15_000

/** The part that updates take in the ledger: all failure domains of a cluster, while any OSD of it is on its way. */
export class UpdateKey {
  readonly #clock: Clock
  readonly #ledger: StorageLedger | undefined
  /** By the uid of the cluster. */
  readonly #held = new Map<string, { readonly epoch: number; readonly renewedAtMs: number }>()

  /** By the uid of the cluster: who waited when the storage was given back. */
  readonly #aside = new Map<string, { readonly tickets: StorageArbiter['tickets']; readonly untilMs: number }>()

  constructor(clock: Clock, ledger: StorageLedger | undefined) {
    this.#clock = clock
    this.#ledger = ledger
  }

  /** What the ledger says of the cluster; undefined where there is none. */
  look(cluster: ClusterId): Observed<StorageArbiter> | undefined {
    if (this.#ledger === undefined) return undefined
    const { view } = this.#ledger
    if (!view.synced) return unknown('the ledger has not been read yet')
    const ledger = parseLedger(view.get({ name: ledgerName }))
    return ledger.known ? known(this.#withThoseWhoWaited(arbiterOf(ledger.value, cluster), cluster)) : ledger
  }

  /**
   * Decides, and holds what the decision wants to be held. What cannot be had is decided again, on what the ledger says now.
   *
   * Guarantees: what is told starts nothing without the hold, but where the cluster has no ledger at all.
   */
  async decide(
    seen: OsdUpdateSnapshot,
    decide: (snapshot: OsdUpdateSnapshot) => OsdUpdateDecision,
    signal: AbortSignal,
  ): Promise<{ readonly snapshot: OsdUpdateSnapshot; readonly decision: OsdUpdateDecision }> {
    if (this.#ledger === undefined) return { snapshot: seen, decision: decide(seen) }
    let arbiter = seen.arbiter ?? unknown('it was not asked')
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const snapshot = { ...seen, arbiter }
      const decision = decide(snapshot)
      const { claim } = decision
      if (claim?.wants !== 'hold' || this.#isHeld(arbiter, claim, seen.cluster)) return { snapshot, decision }
      const refusal = await this.#hold(this.#ledger, seen.cluster, claim, signal)
      if (refusal === undefined) return { snapshot, decision }
      arbiter = refusal
    }
    const snapshot = { ...seen, arbiter: unknown('it changes all the time') }
    return { snapshot, decision: decide(snapshot) }
  }

  /** Gives back what is not needed any more, or shows that its holder lives. Tells what could not be done. */
  async settle(cluster: ClusterId, wants: 'release' | 'keep', signal: AbortSignal): Promise<string | undefined> {
    const ledger = this.#ledger
    const held = this.#held.get(cluster.uid)
    if (ledger === undefined || (wants === 'keep' && held === undefined)) return undefined
    if (wants === 'keep' && held !== undefined && this.#clock.now() - held.renewedAtMs < ledger.renewMs)
      return undefined
    const epoch = held?.epoch
    let waiting: StorageArbiter['tickets'] = []
    try {
      const left = await ledger.store.change(
        `${wants === 'release' ? 'give back' : 'renew'} storage/${cluster.namespace}/${cluster.name} for its update`,
        (now) => {
          waiting = arbiterOf(now, cluster).tickets
          const after =
            wants === 'release' ? giveBackAfterUpdate(now, { cluster, epoch }) : renewHold(now, cluster, epoch)
          return { ledger: after.ledger, value: after.epoch }
        },
        signal,
      )
      this.#note(cluster, left)
      if (left === undefined && waiting.length > 0) {
        this.#aside.set(cluster.uid, { tickets: waiting, untilMs: this.#clock.now() + asideMs })
      }
      return undefined
    } catch (error) {
      if (signal.aborted) throw error
      if (hasReason(error, 'NotFound')) return undefined
      return `disruptionledger/${ledgerName}: ${textOf(error)}`
    }
  }

  /** Whether this process holds the storage of the cluster, as far as it knows. */
  holds({ uid }: Pick<ClusterId, 'uid'>): boolean {
    return this.#held.has(uid)
  }

  /** When to look again at the latest, so that whoever watches sees that the holder lives. */
  recheckAfterSeconds({ uid }: Pick<ClusterId, 'uid'>): number | undefined {
    const held = this.#held.get(uid)
    if (held === undefined || this.#ledger === undefined) return undefined
    return Math.max(1, Math.ceil((held.renewedAtMs + this.#ledger.renewMs - this.#clock.now()) / 1_000))
  }

  #withThoseWhoWaited(arbiter: StorageArbiter, { uid }: ClusterId): StorageArbiter {
    const aside = this.#aside.get(uid)
    if (aside === undefined) return arbiter
    if (this.#clock.now() >= aside.untilMs) {
      this.#aside.delete(uid)
      return arbiter
    }
    const { own, others, tickets } = arbiter
    const present = new Set([...own, ...others, ...tickets].map(({ requestId }) => requestId))
    return { ...arbiter, tickets: [...tickets, ...aside.tickets.filter(({ requestId }) => !present.has(requestId))] }
  }

  #isHeld(arbiter: Observed<StorageArbiter>, { requestId }: Hold, { uid }: ClusterId): boolean {
    const epoch = this.#held.get(uid)?.epoch
    return (
      arbiter.known &&
      arbiter.value.others.some(
        (entry) => entry.requestId === requestId && entry.epoch === epoch && entry.state === 'Acting',
      )
    )
  }

  /** Undefined when it is held, else what the ledger says. */
  async #hold(
    { store }: StorageLedger,
    cluster: ClusterId,
    claim: Hold,
    signal: AbortSignal,
  ): Promise<Observed<StorageArbiter> | undefined> {
    const given = { epoch: this.#held.get(cluster.uid)?.epoch, now: timestamp(this.#clock) }
    try {
      const { epoch, arbiter } = await store.change(
        `hold ${claim.claim.key} for its update`,
        (ledger: Ledger) => {
          const held = holdForUpdate(ledger, claim, given)
          return { ledger: held.ledger, value: { epoch: held.epoch, arbiter: arbiterOf(held.ledger, cluster) } }
        },
        signal,
      )
      this.#note(cluster, epoch)
      return epoch === undefined ? known(arbiter) : undefined
    } catch (error) {
      if (signal.aborted) throw error
      // Where the kind is not installed nobody can hold anything.
      if (hasReason(error, 'NotFound')) return undefined
      return unknown(textOf(error))
    }
  }

  #note({ uid }: ClusterId, epoch: number | undefined): void {
    if (epoch === undefined) this.#held.delete(uid)
    else this.#held.set(uid, { epoch, renewedAtMs: this.#clock.now() })
  }
}

function renewHold(ledger: Ledger, cluster: ClusterId, epoch: number | undefined) {
  const requestId = updateRequestId(cluster)
  const [held] = entriesOf(ledger, requestId)
  if (held === undefined) return { ledger, epoch: undefined }
  if (held.epoch === epoch && held.state !== 'Orphaned') {
    const renewed = renew(ledger, { requestId, epoch })
    if (renewed.ok) return { ledger: renewed.ledger, epoch }
  }
  return adopt(ledger, { requestId, holder: held.holder }) ?? { ledger, epoch: undefined }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
