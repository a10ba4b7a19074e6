import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'

/** Up to here every pair of units has a byte of its own. */
const mostInMatrix = 1_024
const mostStarts = 64
/** Members visited in a cluster that is too large for that; there the cliques that can be found are small anyway. */
const mostVisits = 400_000

/** Units of which every two share an edge of slack 1: no two of them may be down together. Greedy, so not always the largest. */
export function findClique(graph: SlackHypergraph): number[] {
  const { unitStarts } = graph
  const unitCount = graph.osds.length
  const degreeOf = (unit: number) => (unitStarts[unit + 1] as number) - (unitStarts[unit] as number)
  const starts = Array.from({ length: unitCount }, (_, unit) => unit)
    .sort((a, b) => degreeOf(b) - degreeOf(a) || a - b)
    .slice(0, mostStarts)
  const neighbours = unitCount <= mostInMatrix ? neighboursByMatrix(graph) : neighboursByEdges(graph)
  let best: number[] = []
  for (const start of starts) {
    if (neighbours.isExhausted()) break
    const clique = growClique(start, neighbours.among)
    if (clique.length > best.length) best = clique
  }
  return best.sort((a, b) => a - b)
}

interface Neighbours {
  /** The units among the candidates, or among all when none are given, that the unit must not be down with. */
  readonly among: (unit: number, candidates: readonly number[] | undefined) => number[]
  readonly isExhausted: () => boolean
}

function growClique(start: number, among: Neighbours['among']): number[] {
  const clique = [start]
  let candidates = among(start, undefined)
  while (candidates.length > 0) {
    let chosen = candidates[0] as number
    let kept = among(chosen, candidates)
    for (const unit of candidates) {
      const shared = among(unit, candidates)
      if (shared.length <= kept.length) continue
      chosen = unit
      kept = shared
    }
    clique.push(chosen)
    candidates = kept
  }
  return clique
}

function neighboursByMatrix({ osds, edgeStarts, edgeMembers, slack }: SlackHypergraph): Neighbours {
  const unitCount = osds.length
  const isNear = new Uint8Array(unitCount * unitCount)
  for (let edge = 0; edge < slack.length; edge += 1) {
    if (slack[edge] !== 1) continue
    const end = edgeStarts[edge + 1] as number
    for (let a = edgeStarts[edge] as number; a < end; a += 1) {
      for (let b = edgeStarts[edge] as number; b < end; b += 1) {
        if (a !== b) isNear[(edgeMembers[a] as number) * unitCount + (edgeMembers[b] as number)] = 1
      }
    }
  }
  const everybody = Array.from({ length: unitCount }, (_, unit) => unit)
  return {
    among: (unit, candidates = everybody) => candidates.filter((other) => isNear[unit * unitCount + other] === 1),
    isExhausted: () => false,
  }
}

function neighboursByEdges({
  osds,
  edgeStarts,
  edgeMembers,
  slack,
  unitStarts,
  unitEdges,
}: SlackHypergraph): Neighbours {
  const marks = new Int32Array(osds.length)
  let mark = 0
  let visits = 0
  return { among, isExhausted: () => visits > mostVisits }

  function among(unit: number, candidates: readonly number[] | undefined): number[] {
    mark += 2
    for (const other of candidates ?? []) marks[other] = mark
    const wanted = candidates === undefined ? -1 : mark
    const taken = mark + 1
    marks[unit] = taken
    const found: number[] = []
    for (let entry = unitStarts[unit] as number; entry < (unitStarts[unit + 1] as number); entry += 1) {
      const edge = unitEdges[entry] as number
      if (slack[edge] !== 1) continue
      const end = edgeStarts[edge + 1] as number
      visits += end - (edgeStarts[edge] as number)
      for (let at = edgeStarts[edge] as number; at < end; at += 1) {
        const other = edgeMembers[at] as number
        if (marks[other] === taken || (wanted > 0 && marks[other] !== wanted)) continue
        marks[other] = taken
        found.push(other)
      }
    }
    return found
  }
}
