import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { LastDecision, LastDecisions } from '../../../ceph/reader/last-decisions.ts'
import type { CephDrainDecision } from '../domain/decision.ts'
import type { CephDrainSnapshot } from '../domain/snapshot.ts'

/** What ceph-drain saw and decided last of one cluster. */
export interface CephDecided extends LastDecision {
  readonly snapshot: CephDrainSnapshot
  readonly decision: CephDrainDecision
  /** By this process's clock: when the pass began. */
  readonly polledAtMs: number
}

interface Waiting {
  readonly resolve: () => void
}

/**
 * What ceph-drain decided in this very process, for others that need its answer now. What an earlier process wrote down is no
 * answer: nothing was read since.
 */
export class CephDecisions implements LastDecisions {
  readonly #clock: Clock
  readonly #latest = new Map<string, CephDecided>()
  readonly #waiting = new Map<string, Set<Waiting>>()
  readonly #followers = new Set<(key: string) => void>()
  #ask: (key: string) => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How ceph-drain is asked to reconcile a cluster now. */
  listen(ask: (key: string) => void): void {
    this.#ask = ask
    for (const key of this.#waiting.keys()) ask(key)
  }

  /** Notifies with the key of every cluster that was decided about, from now on; the returned function ends it. */
  follow(notify: (key: string) => void): () => void {
    this.#followers.add(notify)
    return () => this.#followers.delete(notify)
  }

  /** Asks for a reconcile now, without waiting for it. */
  request(key: string): void {
    this.#ask(key)
  }

  /** A pass begins; callers that wait for one resolve when the returned function gets its decision. */
  begin(key: string): (decided: Pick<CephDecided, 'snapshot' | 'decision' | 'cephAskedAtMs'>) => void {
    const polledAtMs = this.#clock.now()
    const answered = [...(this.#waiting.get(key) ?? [])]
    return ({ snapshot, decision, cephAskedAtMs }) => {
      const { failureDomainType } = decision
      const domainType = snapshot.ceph.known ? failureDomainType : this.#latest.get(key)?.domainType
      this.#latest.set(key, { snapshot, decision, polledAtMs, cephAskedAtMs, domainType })
      for (const { resolve } of answered) resolve()
      for (const notify of this.#followers) notify(key)
    }
  }

  forget(key: string): void {
    if (!this.#latest.delete(key)) return
    for (const notify of this.#followers) notify(key)
  }

  /** What was decided last, however long ago. */
  latest(key: string): CephDecided | undefined {
    return this.#latest.get(key)
  }

  /** What was decided last, if that is no older than `maxAgeMs`; else the decision of a pass that begins now, in time or not. */
  async decided(
    key: string,
    { maxAgeMs, waitMs, signal }: { readonly maxAgeMs: number; readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<CephDecided | undefined> {
    const latest = this.#latest.get(key)
    if (latest !== undefined && isWithin(this.#clock.now(), latest.polledAtMs, maxAgeMs + 1)) return latest
    const askedAtMs = this.#clock.now()
    await this.#nextPass(key, waitMs, signal)
    const fresh = this.#latest.get(key)
    return fresh !== undefined && fresh.polledAtMs >= askedAtMs ? fresh : undefined
  }

  async #nextPass(key: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const waiters = this.#waiting.get(key) ?? new Set()
    this.#waiting.set(key, waiters)
    const ended = new AbortController()
    let waiting: Waiting | undefined
    const passEnded = new Promise<void>((resolve) => {
      waiting = { resolve }
      waiters.add(waiting)
    })
    this.#ask(key)
    await Promise.race([passEnded, sleep(this.#clock, waitMs, AbortSignal.any([signal, ended.signal]))])
    ended.abort()
    if (waiting !== undefined) waiters.delete(waiting)
    if (waiters.size === 0) this.#waiting.delete(key)
  }
}
