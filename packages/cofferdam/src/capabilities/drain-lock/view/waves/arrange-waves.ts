import { groupedBy } from '../../../../shared/grouped-by.ts'
import { searchWaves } from './search-waves.ts'
import { allOf, lowerBoundOf } from './wave-bound.ts'
import { WaveFill } from './wave-fill.ts'
import type { Use, WaveProblem } from './wave-problem.ts'

export interface ArrangedWaves {
  readonly waveOf: Int32Array
  readonly waveCount: number
  /** No arrangement has fewer. */
  readonly lowerBound: number
}

/** How much is searched where the first arrangements are not known to be the shortest. In steps, so that the answer is always the same. */
const searchSteps = 6_000
const emptyingSteps = 40_000
const mostSearched = 400

/**
 * Puts every item into a wave, in few waves.
 *
 * Several orders are tried, each item into the first wave that has room. Where that takes more waves than the lower bound, the smallest
 * wave is emptied into the others, and then a shorter arrangement is searched for, or proved impossible.
 */
export function arrangeWaves(problem: WaveProblem): ArrangedWaves {
  let lowerBound = lowerBoundOf(problem)
  let best: WaveFill | undefined
  for (const order of ordersOf(problem)) {
    const fill = new WaveFill(problem)
    for (const item of order) fill.put(item, fill.firstFor(item))
    if (best === undefined || fill.waveCount < best.waveCount) best = fill
    if (best.waveCount <= lowerBound) break
  }
  const found = best ?? new WaveFill(problem)
  emptyWaves(found, lowerBound)
  let { waveOf, waveCount } = found
  for (let most = lowerBound; most < waveCount && problem.count <= mostSearched; most += 1) {
    const searched = searchWaves(problem, most, searchSteps)
    if (searched.found === 'impossible') lowerBound = most + 1
    if (searched.found === 'yes') [waveOf, waveCount] = [searched.waveOf, most]
  }
  return { waveOf, waveCount, lowerBound }
}

/** The order that was given, and orders in which what needs most comes first; what shares a scope stays together. */
function* ordersOf(problem: WaveProblem): Generator<readonly number[]> {
  const { uses, capacities, scopes } = problem
  const groupOf = scopes.map((own) => own.map(({ scope }) => scope).join(' '))
  const groups = [...groupedBy(allOf(problem), (item) => groupOf[item] as string)].map(([name, items]) => ({
    // What is bound to no scope fills the gaps that the others leave.
    isBound: name !== '',
    bound: lowerBoundOf(problem, items),
    items,
  }))
  const inOrder = groups
    .toSorted((a, b) => Number(b.isBound) - Number(a.isBound) || b.bound - a.bound)
    .map(({ items }) => items)
  yield inOrder.flat()
  const demand = new Float64Array(capacities.length)
  for (const each of uses)
    for (const { resource, size } of each)
      demand[resource] = (demand[resource] ?? 0) + size / (capacities[resource] as number)
  const shares = (weigh: (use: Use, share: number) => number) =>
    uses.map((each) => each.map((use) => weigh(use, use.size / (capacities[use.resource] as number))))
  const bySum = shares(({ resource }, share) => share * (demand[resource] as number)).map((all) =>
    all.reduce((sum, one) => sum + one, 0),
  )
  const byMost = shares(({ resource }, share) => share * (demand[resource] as number)).map((all) => Math.max(0, ...all))
  const byCount = shares((_, share) => share).map((all) => all.reduce((sum, one) => sum + one, 0))
  for (const weights of [bySum, byMost, byCount]) {
    const heaviest = (items: readonly number[]) =>
      items.toSorted((a, b) => (weights[b] as number) - (weights[a] as number))
    yield inOrder.flatMap(heaviest)
    yield heaviest(allOf(problem))
  }
}

/** Moves the items of small waves elsewhere, pushing aside one item at a time where that helps, until the bound is met or nothing more moves. */
function emptyWaves(fill: WaveFill, lowerBound: number): void {
  let stepsLeft = emptyingSteps
  for (let isShorter = true; isShorter && fill.waveCount > lowerBound && stepsLeft > 0; ) {
    const bySize = Array.from({ length: fill.waveCount }, (_, wave) => wave).sort(
      (a, b) => fill.sizeOf(a) - fill.sizeOf(b),
    )
    isShorter = bySize.slice(0, 6).some((wave) => emptyOne(wave))
  }

  function emptyOne(wave: number): boolean {
    const before = fill.waveOf.slice()
    for (const item of itemsOf(wave)) {
      if (!moveAway(item, wave)) {
        restore(before)
        return false
      }
    }
    closeGap(wave)
    return true
  }

  function itemsOf(wave: number): number[] {
    const items: number[] = []
    for (let item = 0; item < fill.waveOf.length; item += 1) if (fill.waveOf[item] === wave) items.push(item)
    return items
  }

  function moveAway(item: number, from: number): boolean {
    const waveCount = Math.max(fill.waveCount, from + 1)
    for (let wave = 0; wave < waveCount; wave += 1) {
      stepsLeft -= 1
      if (wave !== from && fill.fits(item, wave)) {
        fill.takeOut(item)
        fill.put(item, wave)
        return true
      }
    }
    for (let wave = 0; wave < waveCount && stepsLeft > 0; wave += 1) {
      if (wave !== from && pushInto(item, wave, from, waveCount)) return true
    }
    return false
  }

  /** Makes room in a wave by moving one of its items to a third. */
  function pushInto(item: number, wave: number, from: number, waveCount: number): boolean {
    for (const other of itemsOf(wave)) {
      stepsLeft -= 1
      if (stepsLeft <= 0) return false
      fill.takeOut(other)
      if (fill.fits(item, wave)) {
        for (let third = 0; third < waveCount; third += 1) {
          stepsLeft -= 1
          if (third === wave || third === from || !fill.fits(other, third)) continue
          fill.put(other, third)
          fill.takeOut(item)
          fill.put(item, wave)
          return true
        }
      }
      fill.put(other, wave)
    }
    return false
  }

  function restore(before: Int32Array): void {
    for (let item = 0; item < before.length; item += 1) if (fill.waveOf[item] !== before[item]) fill.takeOut(item)
    for (let item = 0; item < before.length; item += 1)
      if (fill.waveOf[item] === -1) fill.put(item, before[item] as number)
  }

  /** The last wave takes the place of the empty one. */
  function closeGap(wave: number): void {
    if (wave >= fill.waveCount) return
    const last = fill.waveCount - 1
    for (const item of itemsOf(last)) {
      fill.takeOut(item)
      fill.put(item, wave)
    }
  }
}
