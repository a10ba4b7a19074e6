/** As many rollouts may go on at a time without one keeping the other from sharing. */
const mostStems = 32

/**
 * Finds what resembles an object most among those that were read last: one whose name begins alike, as the pods of one ReplicaSet do, or
 * else the last of all. In a rollout old pods and new ones come in turns, so the last alone is often one of another kind.
 *
 * Guarantees: however many are read, no more than some are kept.
 */
export class Neighbours<V> {
  readonly #byStem = new Map<string, V>()
  #last: V | undefined

  of(key: string): V | undefined {
    return this.#byStem.get(stemOf(key)) ?? this.#last
  }

  note(key: string, value: V): void {
    const stem = stemOf(key)
    this.#last = value
    // What was set last is at the end of a Map.
    this.#byStem.delete(stem)
    this.#byStem.set(stem, value)
    if (this.#byStem.size <= mostStems) return
    for (const oldest of this.#byStem.keys()) {
      this.#byStem.delete(oldest)
      return
    }
  }
}

/** The key without what sets an object apart from its siblings. */
function stemOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('-'), key.lastIndexOf('/')))
}
