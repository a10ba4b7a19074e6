import type { ScopeOfKey, Use, WaveProblem } from './wave-problem.ts'

/**
 * How many waves these items need at least, however they are arranged.
 *
 * No wave has more of a thing than there is, nor two scopes of a key: so the waves of every scope add up, and within one scope the same
 * holds for everything else. Of few items, some of which no two go together are searched for too.
 *
 * Guarantees: no arrangement has fewer waves.
 */
export function lowerBoundOf(problem: WaveProblem, items = allOf(problem)): number {
  return boundOf(problem, items, new Set())
}

export function allOf({ count }: WaveProblem): readonly number[] {
  return Array.from({ length: count }, (_, item) => item)
}

function boundOf(problem: WaveProblem, items: readonly number[], split: ReadonlySet<number>): number {
  if (items.length <= 1) return items.length
  let most = Math.max(1, countedBound(problem, items), items.length <= fewItems ? cliqueBound(problem, items) : 1)
  for (let key = 0; key < problem.keyCount && most < items.length; key += 1) {
    if (split.has(key)) continue
    const groups = groupsBy(problem, items, key)
    if (groups.length < 2) continue
    const within = new Set([...split, key])
    most = Math.max(
      most,
      groups.reduce((sum, group) => sum + boundOf(problem, group, within), 0),
    )
  }
  return most
}

const fewItems = 120

function groupsBy({ scopes }: WaveProblem, items: readonly number[], key: number): readonly (readonly number[])[] {
  const groups = new Map<number, number[]>()
  for (const item of items) {
    const scope = scopes[item]?.find((each) => each.key === key)?.scope
    if (scope === undefined) continue
    const group = groups.get(scope)
    if (group === undefined) groups.set(scope, [item])
    else group.push(item)
  }
  return [...groups.values()]
}

function countedBound({ uses, capacities }: WaveProblem, items: readonly number[]): number {
  const sizesOf = new Map<number, number[]>()
  for (const item of items) {
    for (const { resource, size } of uses[item] as readonly Use[]) {
      const sizes = sizesOf.get(resource)
      if (sizes === undefined) sizesOf.set(resource, [size])
      else sizes.push(size)
    }
  }
  let most = 0
  for (const [resource, sizes] of sizesOf) {
    if (sizes.length > most) most = Math.max(most, packingBound(sizes, capacities[resource] as number))
  }
  return most
}

/** Of things with one size each: the large ones need a wave each, and the small ones fill what is left of them. */
function packingBound(sizes: readonly number[], capacity: number): number {
  let most = 0
  for (const least of new Set([0, ...sizes.filter((size) => size <= capacity / 2)])) {
    let [full, large, largeSum, smallSum] = [0, 0, 0, 0]
    for (const size of sizes) {
      if (size > capacity - least) full += 1
      else if (size > capacity / 2) {
        large += 1
        largeSum += size
      } else if (size >= least) smallSum += size
    }
    const left = large * capacity - largeSum
    most = Math.max(most, full + large + Math.max(0, Math.ceil((smallSum - left) / capacity)))
  }
  return most
}

/** A large set of items of which no two go together, found by taking those first that go with the fewest. */
function cliqueBound(problem: WaveProblem, items: readonly number[]): number {
  const against = conflictsOf(problem, items)
  if (against.size === 0) return 1
  const byDegree = items.toSorted((a, b) => (against.get(b)?.size ?? 0) - (against.get(a)?.size ?? 0))
  let most = 1
  for (const first of byDegree.slice(0, 12)) {
    const clique = [first]
    let candidates = byDegree.filter((item) => against.get(first)?.has(item))
    while (candidates.length > 0) {
      const [next] = candidates as [number]
      clique.push(next)
      candidates = candidates.filter((item) => against.get(next)?.has(item))
    }
    most = Math.max(most, clique.length)
  }
  return most
}

/** For every item that cannot go with all others, those that it cannot go with. Only items that need the same are compared. */
function conflictsOf(
  { uses, capacities, scopes }: WaveProblem,
  items: readonly number[],
): ReadonlyMap<number, ReadonlySet<number>> {
  const against = new Map<number, Set<number>>()
  const part = (a: number, b: number) => {
    const others = against.get(a)
    if (others === undefined) against.set(a, new Set([b]))
    else others.add(b)
  }
  const compare = <T>(needsOf: (item: number) => readonly T[], keyOf: (need: T) => number, areApart: Apart<T>) => {
    const before = new Map<number, { readonly item: number; readonly need: T }[]>()
    for (const item of items) {
      for (const need of needsOf(item)) {
        const sharing = before.get(keyOf(need))
        if (sharing === undefined) before.set(keyOf(need), [{ item, need }])
        else {
          for (const other of sharing) {
            if (other.item === item || !areApart(need, other.need)) continue
            part(item, other.item)
            part(other.item, item)
          }
          sharing.push({ item, need })
        }
      }
    }
  }
  compare<ScopeOfKey>(
    (item) => scopes[item] ?? [],
    ({ key }) => key,
    (a, b) => a.scope !== b.scope,
  )
  compare<Use>(
    (item) => uses[item] ?? [],
    ({ resource }) => resource,
    (a, b) => a.size + b.size > (capacities[a.resource] as number),
  )
  return against
}

type Apart<T> = (a: T, b: T) => boolean
