import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/** Somebody tries to empty a node. */
export interface SeenAttempt {
  readonly node: string
  /** Who asked last. */
  readonly by: string
  readonly sinceMs: number
  readonly lastMs: number
  readonly count: number
  /** What the guard refused it for, and when: `cephcluster/rook-ceph/rook-ceph (OtherDomainDown)`. Left out where it did not, lately. */
  readonly refused?: { readonly says: string; readonly atMs: number }
}

export interface EvictionAttemptsOptions {
  readonly clock: Clock
  /** A refusal counts for so long. Default 2 minutes: drains try again every few seconds. */
  readonly refusedMs?: number
  /** After so long without an attempt the next one begins a new series of attempts. Default 5 minutes. */
  readonly quietMs?: number
  /** How many nodes are remembered; those seen longest ago are forgotten first. Default 10,000. */
  readonly mostNodes?: number
}

/** Remembers, for each node, who asked for the eviction of its pods, granted or not. */
export class EvictionAttempts {
  readonly #clock: Clock
  readonly #quietMs: number
  readonly #refusedMs: number
  readonly #mostNodes: number
  // In the order of the last attempt: the first is the oldest.
  readonly #byNode = new Map<string, SeenAttempt>()

  constructor({ clock, quietMs = 300_000, refusedMs = 120_000, mostNodes = 10_000 }: EvictionAttemptsOptions) {
    this.#clock = clock
    this.#quietMs = quietMs
    this.#refusedMs = refusedMs
    this.#mostNodes = mostNodes
  }

  /** An attempt; with `refusedFor` what became of the one that was just noted. */
  note(node: string, by: string, refusedFor?: string): SeenAttempt {
    const now = this.#clock.now()
    const earlier = this.of(node)
    const before = earlier?.refused
    const isRecent = before !== undefined && isWithin(now, before.atMs, this.#refusedMs)
    const refused = refusedFor === undefined ? (isRecent ? before : undefined) : { says: refusedFor, atMs: now }
    const attempt: SeenAttempt = {
      node,
      by,
      sinceMs: earlier?.sinceMs ?? now,
      lastMs: now,
      count: (earlier?.count ?? 0) + (refusedFor === undefined ? 1 : 0),
      ...(refused === undefined ? {} : { refused }),
    }
    this.#byNode.delete(node)
    this.#byNode.set(node, attempt)
    if (this.#byNode.size > this.#mostNodes) this.#byNode.delete(this.#byNode.keys().next().value as string)
    return attempt
  }

  /** What was seen of a node lately. */
  of(node: string): SeenAttempt | undefined {
    const seen = this.#byNode.get(node)
    return seen !== undefined && isWithin(this.#clock.now(), seen.lastMs, this.#quietMs) ? seen : undefined
  }

  get size(): number {
    return this.#byNode.size
  }
}
