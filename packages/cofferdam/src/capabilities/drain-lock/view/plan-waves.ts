import { arrangeWaves } from './waves/arrange-waves.ts'
import type { WaveNeeds } from './waves/wave-needs.ts'
import { buildWaveProblem } from './waves/wave-problem.ts'

export interface PlannedWaves {
  readonly waves: readonly (readonly string[])[]
  /** No order of these nodes takes fewer waves. */
  readonly lowerBound: number
}

/** When a node should go, where it does not matter otherwise: one whose drain has begun is first, one that has to wait is last. */
export type WavePlace = 'begun' | 'ready' | 'waits'

/**
 * Which nodes can be away together, wave by wave, in few waves. Both in the order that was given as far as it goes.
 *
 * By the rules of the ledger: two nodes go together unless they need the same key for themselves, or one holds a budget that pods
 * have to leave by; and no more nodes than a limit on nodes in maintenance allows. Of every budget no more pods leave in one wave than may be
 * away at once, wherever they could run meanwhile, unless they are all on one node. What blocks a node now is no part of it: it waits in its wave.
 *
 * Guarantees: every node is in exactly one wave; all nodes of a wave can be away together.
 */
export function planWaves(
  needs: readonly WaveNeeds[],
  placeOf: (node: string) => WavePlace = () => 'ready',
): PlannedWaves {
  const { waveOf, waveCount, lowerBound } = arrangeWaves(buildWaveProblem(needs))
  const members = Array.from({ length: waveCount }, (): WaveNeeds[] => [])
  for (const [item, need] of needs.entries()) members[waveOf[item] as number]?.push(need)
  const waves = members.map((nodes): Wave => {
    const scopes = scopesOf(nodes)
    const part = scopes.find((scope) => scope.startsWith(partPrefix)) ?? ''
    return { nodes, rank: rankOf(nodes, placeOf), part, scope: scopes.join(' ') }
  })
  const at = new Map(needs.map(({ node }, index) => [node, index]))
  const firstOf = ({ nodes }: Wave) => at.get(nodes[0]?.node ?? '') ?? 0
  const firstBy = (of: (wave: Wave) => string) => {
    const first = new Map<string, number>()
    for (const wave of waves) first.set(of(wave), Math.min(firstOf(wave), first.get(of(wave)) ?? needs.length))
    return (wave: Wave) => first.get(of(wave)) ?? 0
  }
  const [ofPart, ofScope] = [firstBy(({ part }) => part), firstBy(({ scope }) => scope)]
  const inOrder = waves.toSorted(
    (a, b) => ofPart(a) - ofPart(b) || a.rank - b.rank || ofScope(a) - ofScope(b) || firstOf(a) - firstOf(b),
  )
  return { waves: inOrder.map(({ nodes }) => nodes.map(({ node }) => node)), lowerBound }
}

interface Wave {
  readonly nodes: readonly WaveNeeds[]
  readonly rank: number
  /** What the nodes were asked to be parted by. */
  readonly part: string
  /** The failure domains that it opens: those of one follow each other. */
  readonly scope: string
}

function rankOf(nodes: readonly WaveNeeds[], placeOf: (node: string) => WavePlace): number {
  const places = nodes.map(({ node }) => placeOf(node))
  if (places.includes('begun')) return 0
  return places.includes('waits') ? 2 : 1
}

const partPrefix = 'part/'

/** As if nodes with different values of a label could not be away together. */
export function partClaim(label: string, value: string): WaveNeeds['claims'][number] {
  return { key: `${partPrefix}${label}`, scope: value === '' ? '-' : value }
}

function scopesOf(nodes: readonly WaveNeeds[]): readonly string[] {
  const scopes = new Set<string>()
  for (const { claims } of nodes) for (const { key, scope } of claims) if (scope !== '') scopes.add(`${key}/${scope}`)
  return [...scopes].sort()
}
