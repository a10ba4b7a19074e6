import type { Use, WaveProblem } from './wave-problem.ts'

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
  const against = new Map(
    items.map((item) => [item, items.filter((other) => other !== item && !doFit(problem, item, other))]),
  )
  const byDegree = items.toSorted((a, b) => (against.get(b)?.length ?? 0) - (against.get(a)?.length ?? 0))
  let most = 1
  for (const first of byDegree.slice(0, 12)) {
    const clique = [first]
    let candidates = byDegree.filter((item) => against.get(first)?.includes(item))
    while (candidates.length > 0) {
      const [next] = candidates as [number]
      clique.push(next)
      const neighbours = new Set(against.get(next))
      candidates = candidates.filter((item) => neighbours.has(item))
    }
    most = Math.max(most, clique.length)
  }
  return most
}

function doFit({ uses, capacities, scopes }: WaveProblem, a: number, b: number): boolean {
  for (const mine of scopes[a] ?? []) {
    for (const theirs of scopes[b] ?? []) if (mine.key === theirs.key && mine.scope !== theirs.scope) return false
  }
  for (const mine of uses[a] ?? []) {
    for (const theirs of uses[b] ?? []) {
      if (mine.resource === theirs.resource && mine.size + theirs.size > (capacities[mine.resource] as number))
        return false
    }
  }
  return true
}
