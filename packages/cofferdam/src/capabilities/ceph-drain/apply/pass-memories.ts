import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { PassMemory } from '../domain/pass-snapshot.ts'

/** What the passes over each cluster leave for the next ones. Keys are `namespace/name` of CephClusters. */
export class PassMemories {
  readonly #clock: Clock
  readonly #failures = new Map<string, readonly ObjectProblem[]>()
  readonly #cleared = new Set<string>()
  /** When the record was refused first, of those times since it was last taken. */
  readonly #refusedSince = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(key: string): Pick<PassMemory, 'failures' | 'isNoteCleared'> {
    return { failures: this.#failures.get(key) ?? [], isNoteCleared: this.#cleared.has(key) }
  }

  noteFailures(key: string, failures: readonly ObjectProblem[]): void {
    this.#failures.set(key, failures)
  }

  noteCleared(key: string, isCleared: boolean): void {
    if (isCleared) this.#cleared.add(key)
    else this.#cleared.delete(key)
  }

  noteTaken(key: string): void {
    this.#refusedSince.delete(key)
  }

  /** Returns how long the record has been refused. */
  noteRefused(key: string): number {
    const now = this.#clock.now()
    const since = this.#refusedSince.get(key) ?? now
    this.#refusedSince.set(key, since)
    return now - since
  }

  forget(key: string): void {
    this.#failures.delete(key)
    this.#cleared.delete(key)
    this.#refusedSince.delete(key)
  }
}
