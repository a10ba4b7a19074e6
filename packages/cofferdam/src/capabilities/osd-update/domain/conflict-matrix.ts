import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'

/**
 * Who shares edges of slack 1 with whom, as a symmetric matrix over the units that have such edges: how many two of them share,
 * divided by the square roots of what each shares with all. So its largest eigenvalue is 1, and `top` belongs to it.
 */
export interface ConflictMatrix {
  readonly size: number
  /** A vector of length 1. */
  readonly top: Float64Array
  /** Writes the product of the matrix and `from` into `into`. */
  multiply(from: Float64Array, into: Float64Array): void
}

export function conflictMatrix(graph: SlackHypergraph): ConflictMatrix {
  const { osds, edgeStarts, edgeMembers, slack } = graph
  const shared = new Float64Array(osds.length)
  const edgesOf = new Float64Array(osds.length)
  for (let edge = 0; edge < slack.length; edge += 1) {
    if (slack[edge] !== 1) continue
    const [begin, end] = [edgeStarts[edge] as number, edgeStarts[edge + 1] as number]
    for (let at = begin; at < end; at += 1) {
      const unit = edgeMembers[at] as number
      shared[unit] = (shared[unit] as number) + (end - begin - 1)
      edgesOf[unit] = (edgesOf[unit] as number) + 1
    }
  }
  const rows = Int32Array.from(Array.from(osds.keys()).filter((unit) => (shared[unit] as number) > 0))
  const rowOf = new Int32Array(osds.length).fill(-1)
  for (const [row, unit] of rows.entries()) rowOf[unit] = row
  const size = rows.length
  const scale = Float64Array.from(rows, (unit) => 1 / Math.sqrt(shared[unit] as number))
  const ownEdges = Float64Array.from(rows, (unit) => edgesOf[unit] as number)
  const { starts, members } = edgesOfRows(graph, rowOf)
  const scaled = new Float64Array(size)
  const all = shared.reduce((sum, count) => sum + count, 0)
  return {
    size,
    top: Float64Array.from(rows, (unit) => Math.sqrt((shared[unit] as number) / all)),
    multiply(from, into) {
      for (let row = 0; row < size; row += 1) scaled[row] = (from[row] as number) * (scale[row] as number)
      into.fill(0)
      for (let edge = 0; edge + 1 < starts.length; edge += 1) {
        const [begin, end] = [starts[edge] as number, starts[edge + 1] as number]
        let sum = 0
        for (let at = begin; at < end; at += 1) sum += scaled[members[at] as number] as number
        for (let at = begin; at < end; at += 1) {
          const row = members[at] as number
          into[row] = (into[row] as number) + sum
        }
      }
      for (let row = 0; row < size; row += 1) {
        const others = (into[row] as number) - (ownEdges[row] as number) * (scaled[row] as number)
        into[row] = others * (scale[row] as number)
      }
    },
  }
}

function edgesOfRows(
  { edgeStarts, edgeMembers, slack }: SlackHypergraph,
  rowOf: Int32Array,
): { readonly starts: Int32Array; readonly members: Int32Array } {
  const starts = new Int32Array(slack.length + 1)
  const members = new Int32Array(edgeMembers.length)
  let edges = 0
  let end = 0
  for (let edge = 0; edge < slack.length; edge += 1) {
    if (slack[edge] !== 1) continue
    for (let at = edgeStarts[edge] as number; at < (edgeStarts[edge + 1] as number); at += 1) {
      members[end] = rowOf[edgeMembers[at] as number] as number
      end += 1
    }
    edges += 1
    starts[edges] = end
  }
  return { starts: starts.slice(0, edges + 1), members: members.slice(0, end) }
}
