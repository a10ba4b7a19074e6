import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { LastDecision } from '../../../ceph/reader/last-decisions.ts'

/** How old what Ceph said may be. */
const staleMs = 60_000
/** By then another poll is asked for. */
const oldMs = 35_000

/** How often Ceph is polled in calm times, so that what it said never grows stale while it answers. */
export const evidenceCalmMs = 30_000

/** Says which of ceph-drain's decisions say something new about machines. */
export class EvidenceChanges {
  readonly #clock: Clock
  readonly #reported = new Map<string, { readonly fingerprint: string; readonly askedAtMs: number | undefined }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isRelevant(key: string, decided: LastDecision | undefined): boolean {
    const before = this.#reported.get(key)
    if (decided === undefined) {
      this.#reported.delete(key)
      return before !== undefined
    }
    const fingerprint = fingerprintOf(decided)
    this.#reported.set(key, { fingerprint, askedAtMs: decided.cephAskedAtMs })
    if (before === undefined || before.fingerprint !== fingerprint) return true
    return before.askedAtMs !== decided.cephAskedAtMs && this.#isOlder(before.askedAtMs, staleMs)
  }

  isOld(decided: LastDecision | undefined): boolean {
    return this.#isOlder(decided?.cephAskedAtMs, oldMs)
  }

  /** When what is known now counts no more; undefined: nothing is known. */
  staleInSeconds(decided: LastDecision | undefined): number | undefined {
    const { cephAskedAtMs, snapshot } = decided ?? {}
    if (cephAskedAtMs === undefined || snapshot?.ceph.known !== true) return undefined
    return Math.max(1, Math.floor((cephAskedAtMs + staleMs - this.#clock.now()) / 1_000) + 1)
  }

  #isOlder(askedAtMs: number | undefined, limitMs: number): boolean {
    return askedAtMs === undefined || !isWithin(this.#clock.now(), askedAtMs, limitMs + 1)
  }
}

function fingerprintOf({ snapshot, decision }: LastDecision): string {
  const { ceph, nodes } = snapshot
  const closed = nodes.filter(({ isClosed }) => isClosed).map(({ name }) => name)
  const domains = decision.domains.map(({ domain, osds }) => [domain, osds])
  if (!ceph.known) return JSON.stringify(['silent', closed, domains])
  return JSON.stringify([ceph.value.pgs.health, ceph.value.upOsds, closed, domains])
}
