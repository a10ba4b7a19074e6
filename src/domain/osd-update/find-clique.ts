import type { SlackHypergraph } from '../safety/slack-hypergraph.ts'

/** Looks at neighbours, so that small and large clusters get about the same time. */
const mostLooks = 3_000_000
const mostStarts = 64

/** Units of which every two share an edge of slack 1: no two of them may be down together. Greedy, so not always the largest. */
export function findClique(graph: SlackHypergraph): number[] {
  const { edgeStarts, edgeMembers, slack, unitStarts, unitEdges } = graph
  const unitCount = graph.osds.length
  const degreeOf = (unit: number) => (unitStarts[unit + 1] as number) - (unitStarts[unit] as number)
  const starts = Array.from({ length: unitCount }, (_, unit) => unit)
    .sort((a, b) => degreeOf(b) - degreeOf(a) || a - b)
    .slice(0, mostStarts)
  const isCandidate = new Uint8Array(unitCount)
  const seen = new Int32Array(unitCount)
  let mark = 0
  let looks = 0
  let best: number[] = []
  for (const start of starts) {
    if (looks > mostLooks) break
    const clique = grow(start)
    if (clique.length > best.length) best = clique
  }
  return best.sort((a, b) => a - b)

  function grow(start: number): number[] {
    const clique = [start]
    let candidates = neighboursOf(start, false)
    for (const unit of candidates) isCandidate[unit] = 1
    while (candidates.length > 0) {
      let chosen = candidates[0] as number
      let kept: number[] = []
      for (const unit of candidates) {
        const shared = neighboursOf(unit, true)
        if (unit !== candidates[0] && shared.length <= kept.length) continue
        chosen = unit
        kept = shared
      }
      clique.push(chosen)
      for (const unit of candidates) isCandidate[unit] = 0
      for (const unit of kept) isCandidate[unit] = 1
      candidates = kept
    }
    return clique
  }

  function neighboursOf(unit: number, amongCandidates: boolean): number[] {
    mark += 1
    seen[unit] = mark
    const found: number[] = []
    for (let entry = unitStarts[unit] as number; entry < (unitStarts[unit + 1] as number); entry += 1) {
      const edge = unitEdges[entry] as number
      if (slack[edge] !== 1) continue
      for (let at = edgeStarts[edge] as number; at < (edgeStarts[edge + 1] as number); at += 1) {
        looks += 1
        const other = edgeMembers[at] as number
        if (seen[other] === mark || (amongCandidates && isCandidate[other] === 0)) continue
        seen[other] = mark
        found.push(other)
      }
    }
    return found
  }
}
