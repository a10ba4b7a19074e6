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
  const { items, isShared, isLimitKey, capacityOf } = numberNeeds(needs)
  const [resources, keys, scopes] = [new Numbers<number>(), new Numbers<number>(), new Numbers<string>()]
  const capacities: number[] = []
  const useOf = (key: number, wanted: number): Use => {
    const resource = resources.of(key)
    const capacity = capacityOf[key] ?? 1
    capacities[resource] = capacity
    return { resource, size: Math.max(1, Math.min(capacity, wanted)) }
  }
  const uses: (readonly Use[])[] = []
  const scopesOf: (readonly ScopeOfKey[])[] = []
  for (const [item, { held, left }] of items.entries()) {
    const ownUses: Use[] = []
    const ownScopes: ScopeOfKey[] = []
    for (const { key, scope } of held) {
      // What shares with nobody is a scope of its own.
      const name = scope === '' ? `${key}\n\n${item}` : `${key}\n${scope}`
      if (isShared[key] === true) ownScopes.push({ key: keys.of(key), scope: scopes.of(name) })
      else ownUses.push(useOf(key, isLimitKey[key] === true ? 1 : Number.POSITIVE_INFINITY))
    }
    const isLocked = (key: number) => isShared[key] !== true && held.some((claim) => claim.key === key)
    for (const { key, pods } of left) if (!isLocked(key)) ownUses.push(useOf(key, pods))
    uses.push(ownUses)
    scopesOf.push(ownScopes)
  }
  return { count: needs.length, uses, capacities, scopes: scopesOf, keyCount: keys.count }
}

interface NumberedNeeds {
  /** What each node holds, but for itself, and which pods leave it; by the number of the key. */
  readonly items: readonly {
    readonly held: readonly { readonly key: number; readonly scope: string }[]
    readonly left: readonly { readonly key: number; readonly pods: number }[]
  }[]
  readonly isShared: readonly (boolean | undefined)[]
  readonly isLimitKey: readonly (boolean | undefined)[]
  readonly capacityOf: readonly (number | undefined)[]
}

/** Names are looked up once: thousands of nodes share them. */
function numberNeeds(needs: readonly WaveNeeds[]): NumberedNeeds {
  const names = new Numbers<string>()
  const isShared: boolean[] = []
  const isLimitKey: boolean[] = []
  const capacityOf: number[] = []
  const limit = (key: number, room: number) => {
    capacityOf[key] = Math.max(1, Math.min(room, capacityOf[key] ?? room))
  }
  const items = needs.map(({ node, claims, leaves }) => {
    const itself = nodeKey(node)
    const held: { key: number; scope: string }[] = []
    for (const claim of claims) {
      const { scope, most } = claim
      const key = names.of(claim.key)
      if (scope !== '') isShared[key] = true
      if (most !== undefined) limit(key, most)
      if (isLimit(claim)) isLimitKey[key] = true
      if (claim.key !== itself) held.push({ key, scope })
    }
    const left = leaves.map(({ key: name, pods, room }) => {
      const key = names.of(name)
      limit(key, room)
      return { key, pods }
    })
    return { held, left }
  })
  return { items, isShared, isLimitKey, capacityOf }
}

class Numbers<T> {
  readonly #numbers = new Map<T, number>()

  get count(): number {
    return this.#numbers.size
  }

  of(name: T): number {
    const before = this.#numbers.get(name)
    if (before !== undefined) return before
    const number = this.#numbers.size
    this.#numbers.set(name, number)
    return number
  }
}
