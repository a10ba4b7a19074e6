import type { WaveProblem } from './wave-problem.ts'

/** Waves that are being filled, and what each has left. */
export class WaveFill {
  readonly problem: WaveProblem
  readonly waveOf: Int32Array
  /** By resource: what each wave has used of it. */
  readonly #used: Map<number, number>[]
  /** By key: the scope of each wave, and how many items have it. */
  readonly #scope: Map<number, { readonly scope: number; items: number }>[]
  /** By resource: waves before this one have nothing left of it. Only grows while nothing is taken out. */
  readonly #firstOpen: Int32Array
  #sizes: number[] = []

  constructor(problem: WaveProblem) {
    this.problem = problem
    this.waveOf = new Int32Array(problem.count).fill(-1)
    this.#used = problem.capacities.map(() => new Map())
    this.#scope = Array.from({ length: problem.keyCount }, () => new Map())
    this.#firstOpen = new Int32Array(problem.capacities.length)
  }

  get waveCount(): number {
    return this.#sizes.length
  }

  sizeOf(wave: number): number {
    return this.#sizes[wave] ?? 0
  }

  fits(item: number, wave: number): boolean {
    const { uses, capacities, scopes } = this.problem
    for (const { key, scope } of scopes[item] as WaveProblem['scopes'][number]) {
      const there = this.#scope[key]?.get(wave)
      if (there !== undefined && there.scope !== scope) return false
    }
    for (const { resource, size } of uses[item] as WaveProblem['uses'][number]) {
      const used = this.#used[resource]?.get(wave)
      if (used !== undefined && used + size > (capacities[resource] as number)) return false
    }
    return true
  }

  put(item: number, wave: number): void {
    const { uses, scopes } = this.problem
    for (const { key, scope } of scopes[item] as WaveProblem['scopes'][number]) {
      const there = this.#scope[key]?.get(wave)
      if (there === undefined) this.#scope[key]?.set(wave, { scope, items: 1 })
      else there.items += 1
    }
    for (const { resource, size } of uses[item] as WaveProblem['uses'][number]) {
      const used = this.#used[resource] as Map<number, number>
      used.set(wave, (used.get(wave) ?? 0) + size)
    }
    while (this.#sizes.length <= wave) this.#sizes.push(0)
    this.#sizes[wave] = this.sizeOf(wave) + 1
    this.waveOf[item] = wave
  }

  takeOut(item: number): void {
    const { uses, scopes } = this.problem
    const wave = this.waveOf[item] as number
    for (const { key } of scopes[item] as WaveProblem['scopes'][number]) {
      const there = this.#scope[key]?.get(wave)
      if (there === undefined) continue
      if (there.items === 1) this.#scope[key]?.delete(wave)
      else there.items -= 1
    }
    for (const { resource, size } of uses[item] as WaveProblem['uses'][number]) {
      const used = this.#used[resource] as Map<number, number>
      const left = (used.get(wave) ?? 0) - size
      if (left > 0) used.set(wave, left)
      else used.delete(wave)
      this.#firstOpen[resource] = 0
    }
    this.#sizes[wave] = this.sizeOf(wave) - 1
    this.waveOf[item] = -1
    while (this.#sizes.length > 0 && this.#sizes.at(-1) === 0) this.#sizes.pop()
  }

  /** The first wave that has room for the item; the next new one where none has. */
  firstFor(item: number): number {
    const { uses } = this.problem
    let wave = 0
    for (const { resource } of uses[item] as WaveProblem['uses'][number])
      wave = Math.max(wave, this.#firstOpenOf(resource))
    while (wave < this.waveCount && !this.fits(item, wave)) wave += 1
    return wave
  }

  #firstOpenOf(resource: number): number {
    const used = this.#used[resource] as Map<number, number>
    const capacity = this.problem.capacities[resource] as number
    let wave = this.#firstOpen[resource] as number
    while (wave < this.waveCount && (used.get(wave) ?? 0) >= capacity) wave += 1
    this.#firstOpen[resource] = wave
    return wave
  }
}
