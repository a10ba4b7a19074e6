import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

/** One write as the store remembers it. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly version: number
  readonly key: string
  /** For DELETED the last state, carrying the version of the deletion. */
  readonly object: KubeObject
  readonly previous: KubeObject | undefined
}

/** The last changes of one bucket, in a ring: the oldest makes room for the newest. */
export class ChangeLog {
  readonly #ring: (Change | undefined)[] = []
  readonly #length: number
  /** Positions count every change ever appended, so that a cursor knows what it has missed. */
  #next = 0
  #start = 0
  #forgottenVersion: number

  constructor(length: number, startVersion: number) {
    this.#length = length
    this.#forgottenVersion = startVersion
  }

  /** The position that the next change will get. */
  get next(): number {
    return this.#next
  }

  get first(): number {
    return Math.max(this.#start, this.#next - this.#length)
  }

  /** Changes up to this version may be missing here. */
  get forgottenVersion(): number {
    return this.#forgottenVersion
  }

  append(change: Change): void {
    const slot = this.#next % this.#length
    const overwritten = this.#ring[slot]
    if (overwritten !== undefined) this.#forgottenVersion = Math.max(this.#forgottenVersion, overwritten.version)
    this.#ring[slot] = change
    this.#next += 1
  }

  /** Undefined once it is overwritten, or while it is not there yet. */
  at(position: number): Change | undefined {
    return position < this.first || position >= this.#next ? undefined : this.#ring[position % this.#length]
  }

  /** The position of the first change after a version. */
  positionAfter(version: number): number {
    let low = this.first
    let high = this.#next
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.at(middle) as Change).version <= version) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Nothing that happened counts any more; the next change comes after `version`, whatever versions there have been. */
  beginAnew(version: number): void {
    this.#ring.length = 0
    this.#next += 1
    this.#start = this.#next
    this.#forgottenVersion = version
  }

  /** From now on nobody can resume from before `version`; those who read already go on. */
  forgetUpTo(version: number): void {
    this.#forgottenVersion = Math.max(this.#forgottenVersion, version)
  }
}
