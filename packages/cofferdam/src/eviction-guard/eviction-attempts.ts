import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/** Somebody tries to empty a node. */
export interface SeenAttempt {
  readonly node: string
  /** Who asked last. */
  readonly by: string
  readonly sinceMs: number
  readonly lastMs: number
  readonly count: number
}

export interface EvictionAttemptsOptions {
  readonly clock: Clock
  /** After so long without an attempt the next one begins a new series of attempts. Default 5 minutes. */
  readonly quietMs?: number
  /** How many nodes are remembered; those seen longest ago are forgotten first. Default 10,000. */
  readonly mostNodes?: number
}

/** Remembers, for each node, who asked for the eviction of its pods, granted or not. */
export class EvictionAttempts {
  readonly #clock: Clock
  readonly #quietMs: number
  readonly #mostNodes: number
  // In the order of the last attempt: the first is the oldest.
  readonly #byNode = new Map<string, SeenAttempt>()

  constructor({ clock, quietMs = 300_000, mostNodes = 10_000 }: EvictionAttemptsOptions) {
    this.#clock = clock
    this.#quietMs = quietMs
    this.#mostNodes = mostNodes
  }

  note(node: string, by: string): SeenAttempt {
    const now = this.#clock.now()
    const earlier = this.of(node)
    const attempt: SeenAttempt = {
      node,
      by,
      sinceMs: earlier?.sinceMs ?? now,
      lastMs: now,
      count: (earlier?.count ?? 0) + 1,
    }
    this.#byNode.delete(node)
    this.#byNode.set(node, attempt)
    if (this.#byNode.size > this.#mostNodes) this.#byNode.delete(this.#byNode.keys().next().value as string)
    return attempt
  }

  /** What was seen of a node lately. */
  of(node: string): SeenAttempt | undefined {
    const seen = this.#byNode.get(node)
    return seen !== undefined && this.#clock.now() - seen.lastMs < this.#quietMs ? seen : undefined
  }

  get size(): number {
    return this.#byNode.size
  }
}
