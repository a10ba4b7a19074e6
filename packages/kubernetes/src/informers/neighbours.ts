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
  #last: { readonly stem: string; readonly value: V } | undefined

  /** Returns the neighbour of an object that was just read, and remembers it. */
  next(key: string, value: V): V | undefined {
    const stem = stemOf(key)
    const neighbour = this.#byStem.get(stem) ?? this.#last?.value
    // What was set last is at the end of a Map.
    if (stem !== this.#last?.stem) this.#byStem.delete(stem)
    this.#byStem.set(stem, value)
    this.#last = { stem, value }
    if (this.#byStem.size > mostStems) this.#byStem.delete(this.#byStem.keys().next().value ?? '')
    return neighbour
  }
}

/** The key without what sets an object apart from its siblings. */
function stemOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('-'), key.lastIndexOf('/')))
}
