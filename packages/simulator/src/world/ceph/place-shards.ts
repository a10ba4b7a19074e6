import type { CrushItem, CrushRule, CrushTree } from './crush-tree.ts'
import { noOsd } from './no-osd.ts'

export interface Placement {
  readonly tree: CrushTree
  readonly rule: CrushRule
  /** How many shards. */
  readonly width: number
  /** What stands for the placement group. */
  readonly seed: number
  readonly isOut: (osd: number) => boolean
}

const tries = 100

/**
 * Where the shards of one placement group belong, as CRUSH decides it: straws drawn by weight at each level, tried again
 * on a collision or an OSD that is out, so that little moves when one goes.
 *
 * Guarantees: no two shards in one failure domain. A replicated group that finds too few is shorter, an erasure-coded
 * one has `noOsd` in that place.
 */
export function placeShards(placement: Placement): number[] {
  return placement.rule.kind === 'replicated' ? placeFirst(placement) : placeInPlace(placement)
}

function placeFirst(placement: Placement): number[] {
  const domains = new Set<CrushItem>()
  const chosen: number[] = []
  for (let replica = 0; replica < placement.width; replica += 1) {
    for (let failures = 0; failures < tries; failures += 1) {
      const found = draw(placement, replica + failures, domains)
      if (found === undefined) continue
      domains.add(found.domain)
      chosen.push(found.osd)
      break
    }
  }
  return chosen
}

function placeInPlace(placement: Placement): number[] {
  const { width } = placement
  const domains = new Set<CrushItem>()
  const chosen = Array.from({ length: width }, () => noOsd)
  let left = width
  for (let failures = 0; failures < tries && left > 0; failures += 1) {
    for (let shard = 0; shard < width; shard += 1) {
      if (chosen[shard] !== noOsd) continue
      const found = draw(placement, shard + failures * width, domains)
      if (found === undefined) continue
      domains.add(found.domain)
      chosen[shard] = found.osd
      left -= 1
    }
  }
  return chosen
}

function draw(
  { tree, rule, seed, isOut }: Placement,
  attempt: number,
  taken: ReadonlySet<CrushItem>,
): { readonly domain: CrushItem; readonly osd: number } | undefined {
  const kind = rule.deviceClass ?? ''
  const domain = descend(tree.root, rule.failureDomain, { seed, attempt, kind })
  if (domain === undefined || taken.has(domain)) return undefined
  const leaf = descend(domain, 'osd', { seed, attempt, kind })
  if (leaf === undefined || isOut(leaf.id)) return undefined
  return { domain, osd: leaf.id }
}

interface Draw {
  readonly seed: number
  readonly attempt: number
  /** The device class that weights count for. */
  readonly kind: string
}

function descend(from: CrushItem, type: string, how: Draw): CrushItem | undefined {
  let at: CrushItem | undefined = from
  while (at !== undefined && at.type !== type) at = drawStraw(at.children, how)
  return at
}

/** Each item draws a straw whose length is spread by its own weight alone: another item's weight never changes it. */
function drawStraw(items: readonly CrushItem[], { seed, attempt, kind }: Draw): CrushItem | undefined {
  let best: CrushItem | undefined
  let longest = Number.NEGATIVE_INFINITY
  for (const item of items) {
    const weight = item.weights.get(kind) ?? 0
    if (weight <= 0) continue
    const chance = (mix(seed, item.id, attempt) + 1) / 2 ** 32
    const straw = Math.log(chance) / weight
    if (straw > longest) {
      longest = straw
      best = item
    }
  }
  return best
}

/** A well-mixed 32-bit number from three. */
export function mix(a: number, b: number, c: number): number {
  let hash = 0x5bd1e995
  for (const part of [a, b, c]) {
    hash = Math.imul(hash ^ part, 0x85ebca6b)
    hash ^= hash >>> 13
    hash = Math.imul(hash, 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash >>> 0
}
