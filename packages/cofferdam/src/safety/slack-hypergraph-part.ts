import { edgesByUnit, type SlackHypergraph } from './slack-hypergraph.ts'

/** The same limits for some of the units alone; unit n of the part is `units[n]` of the whole. */
export function partOfHypergraph(whole: SlackHypergraph, units: readonly number[]): SlackHypergraph {
  const inside = new Map<number, number[]>()
  for (const [at, unit] of units.entries()) {
    for (let entry = whole.unitStarts[unit] as number; entry < (whole.unitStarts[unit + 1] as number); entry += 1) {
      const edge = whole.unitEdges[entry] as number
      const members = inside.get(edge)
      if (members === undefined) inside.set(edge, [at])
      else members.push(at)
    }
  }
  const kept = [...inside].filter(([edge, members]) => members.length > (whole.slack[edge] as number))
  const edgeStarts = new Int32Array(kept.length + 1)
  for (const [at, [, members]] of kept.entries()) edgeStarts[at + 1] = (edgeStarts[at] as number) + members.length
  const edgeMembers = Int32Array.from(kept.flatMap(([, members]) => members))
  return {
    osds: Int32Array.from(units, (unit) => whole.osds[unit] as number),
    isDown: Uint8Array.from(units, (unit) => whole.isDown[unit] as number),
    edgeStarts,
    edgeMembers,
    slack: Uint8Array.from(kept, ([edge]) => whole.slack[edge] as number),
    ...edgesByUnit(units.length, edgeStarts, edgeMembers),
    blocked: [],
  }
}
