import { isLimit } from '../../../../ledger/rules/claim.ts'
import { nodeKey } from '../../../../ledger/rules/keys.ts'
import type { WaveNeeds } from './wave-needs.ts'

/** So much of one thing that a wave has a limited amount of. */
export interface Use {
  readonly resource: number
  /** At most the capacity: whoever needs more goes alone with it. */
  readonly size: number
}

/** In a wave there is one scope of each key at most. */
export interface ScopeOfKey {
  readonly key: number
  readonly scope: number
}

/** Which items fit into one wave, in numbers. */
export interface WaveProblem {
  readonly count: number
  readonly uses: readonly (readonly Use[])[]
  readonly capacities: readonly number[]
  readonly scopes: readonly (readonly ScopeOfKey[])[]
  readonly keyCount: number
}

/**
 * What nodes need, as a packing problem.
 *
 * A key that is shared by scope becomes a scope. Everything else is counted: a limit has its number of places, a budget its room, and
 * whoever holds a budget for a pod that stays takes all of it.
 */
export function buildWaveProblem(needs: readonly WaveNeeds[]): WaveProblem {
  const shared = new Set<string>()
  const capacityOf = new Map<string, number>()
  for (const { claims, leaves } of needs) {
    for (const { key, scope, most } of claims) {
      if (scope !== '') shared.add(key)
      if (most !== undefined) capacityOf.set(key, Math.max(1, Math.min(most, capacityOf.get(key) ?? most)))
    }
    for (const { key, room } of leaves) capacityOf.set(key, Math.max(1, Math.min(room, capacityOf.get(key) ?? room)))
  }
  const resources = new Numbers()
  const keys = new Numbers()
  const scopes = new Numbers()
  const capacities: number[] = []
  const useOf = (key: string, wanted: (capacity: number) => number): Use => {
    const resource = resources.of(key)
    const capacity = capacityOf.get(key) ?? 1
    capacities[resource] = capacity
    return { resource, size: Math.max(1, Math.min(capacity, wanted(capacity))) }
  }
  const built = needs.map(({ node, claims, leaves }, item) => {
    const held = claims.filter((claim) => claim.key !== nodeKey(node))
    const counted = held.filter(({ key }) => !shared.has(key))
    const locked = new Set(counted.map(({ key }) => key))
    return {
      uses: [
        ...counted.map((claim) => useOf(claim.key, (capacity) => (isLimit(claim) ? 1 : capacity))),
        ...leaves.filter(({ key }) => !locked.has(key)).map(({ key, pods }) => useOf(key, () => pods)),
      ],
      scopes: held
        .filter(({ key }) => shared.has(key))
        .map(({ key, scope }) => ({
          key: keys.of(key),
          // What shares with nobody is a scope of its own.
          scope: scopes.of(scope === '' ? `${key}\n\n${item}` : `${key}\n${scope}`),
        })),
    }
  })
  return {
    count: needs.length,
    uses: built.map(({ uses }) => uses),
    capacities,
    scopes: built.map(({ scopes: own }) => own),
    keyCount: keys.count,
  }
}

class Numbers {
  readonly #numbers = new Map<string, number>()

  get count(): number {
    return this.#numbers.size
  }

  of(name: string): number {
    const before = this.#numbers.get(name)
    if (before !== undefined) return before
    const number = this.#numbers.size
    this.#numbers.set(name, number)
    return number
  }
}
