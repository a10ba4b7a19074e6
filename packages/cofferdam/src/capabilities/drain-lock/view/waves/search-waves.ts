import { WaveFill } from './wave-fill.ts'
import type { WaveProblem } from './wave-problem.ts'

export type SearchedWaves =
  | { readonly found: 'yes'; readonly waveOf: Int32Array }
  /** Everything was tried: so many waves are not enough. */
  | { readonly found: 'impossible' }
  | { readonly found: 'gave-up' }

/**
 * Looks for an arrangement in so many waves, and gives up after so many steps.
 *
 * The item with the fewest places left comes first. Waves that are still empty are alike, so only one of them is tried.
 */
export function searchWaves(problem: WaveProblem, most: number, steps: number): SearchedWaves {
  const fill = new WaveFill(problem)
  const left = new Set<number>(Array.from({ length: problem.count }, (_, item) => item))
  const weights = problem.uses.map((uses, item) =>
    uses.reduce(
      (sum, { resource, size }) => sum + size / (problem.capacities[resource] as number),
      problem.scopes[item]?.length ?? 0,
    ),
  )
  let stepsLeft = steps
  const answer = place()
  if (answer) return { found: 'yes', waveOf: fill.waveOf.slice() }
  return { found: stepsLeft > 0 ? 'impossible' : 'gave-up' }

  function place(): boolean {
    if (left.size === 0) return true
    const next = hardest()
    if (next === undefined) return false
    left.delete(next.item)
    for (const wave of next.waves) {
      stepsLeft -= 1
      if (stepsLeft <= 0) break
      fill.put(next.item, wave)
      if (place()) return true
      fill.takeOut(next.item)
    }
    left.add(next.item)
    return false
  }

  /** Undefined: one of them fits nowhere. */
  function hardest(): { readonly item: number; readonly waves: readonly number[] } | undefined {
    let best: { readonly item: number; readonly waves: readonly number[] } | undefined
    const open = Math.min(fill.waveCount + 1, most)
    for (const item of left) {
      const waves: number[] = []
      for (let wave = 0; wave < open; wave += 1) {
        stepsLeft -= 1 / 64
        if (fill.fits(item, wave)) waves.push(wave)
        if (best !== undefined && waves.length > best.waves.length) break
      }
      if (waves.length === 0) return undefined
      const isHarder =
        best === undefined ||
        waves.length < best.waves.length ||
        (waves.length === best.waves.length && (weights[item] as number) > (weights[best.item] as number))
      if (isHarder) best = { item, waves }
    }
    return best
  }
}
