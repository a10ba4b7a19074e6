/** Thrown into a mutant that does not come to an end. */
class EndlessMutant extends Error {}

/** Which mutant is active in this process, and which were passed while none was. */
export class MutantSwitch {
  #active = 0
  #passed = new Set<number>()
  #steps = 0
  #limit = Number.POSITIVE_INFINITY
  #run = 0

  /** Called by woven sources, once for each time that a mutant could act. */
  readonly isActive = (id: number): boolean => {
    this.#steps += 1
    if (this.#active === 0) this.#passed.add(id)
    else if (this.#steps > this.#limit) throw new EndlessMutant(`mutant ${this.#active} does not end`)
    return id === this.#active
  }

  /** Runs without a mutant; the answer is which could have acted, and how often one was asked. */
  async observe(run: () => unknown): Promise<{ readonly passed: readonly number[]; readonly steps: number }> {
    this.#begin(0, Number.POSITIVE_INFINITY)
    await run()
    return { passed: [...this.#passed], steps: this.#steps }
  }

  async activate(id: number, usualSteps: number, run: () => unknown): Promise<void> {
    this.#begin(id, usualSteps * 20 + 100_000)
    try {
      await run()
    } finally {
      this.#active = 0
    }
  }

  #begin(id: number, limit: number): void {
    this.#active = id
    this.#limit = limit
    this.#steps = 0
    this.#passed = new Set()
    this.#run += 1
  }

  /** What is remembered in one run is unknown in the next: otherwise a mutant would be given the answer that was right. */
  forgetfulWeakMap(): typeof WeakMap {
    const runNow = () => this.#run
    return class ForgetfulWeakMap<K extends WeakKey, V> extends WeakMap<K, V> {
      readonly #writtenIn = new WeakMap<K, number>()
      override get(key: K): V | undefined {
        return this.has(key) ? super.get(key) : undefined
      }
      override has(key: K): boolean {
        return this.#writtenIn.get(key) === runNow() && super.has(key)
      }
      override set(key: K, value: V): this {
        this.#writtenIn.set(key, runNow())
        return super.set(key, value)
      }
    } as typeof WeakMap
  }
}
