import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'

/** Units that are down now, with a count for each edge, so that one more is judged by its own edges alone. */
export class RunningSet {
  readonly #graph: SlackHypergraph
  readonly #counts: Uint16Array
  readonly #isIn: Uint8Array
  size = 0

  constructor(graph: SlackHypergraph) {
    this.#graph = graph
    this.#counts = new Uint16Array(graph.slack.length)
    this.#isIn = new Uint8Array(graph.osds.length)
  }

  has(unit: number): boolean {
    return this.#isIn[unit] === 1
  }

  mayAdd(unit: number): boolean {
    const { unitStarts, unitEdges, slack } = this.#graph
    const end = unitStarts[unit + 1] as number
    for (let at = unitStarts[unit] as number; at < end; at += 1) {
      const edge = unitEdges[at] as number
      if ((this.#counts[edge] as number) >= (slack[edge] as number)) return false
    }
    return true
  }

  add(unit: number): void {
    this.#change(unit, 1)
  }

  remove(unit: number): void {
    this.#change(unit, -1)
  }

  #change(unit: number, by: number): void {
    const { unitStarts, unitEdges } = this.#graph
    this.#isIn[unit] = by > 0 ? 1 : 0
    this.size += by
    const end = unitStarts[unit + 1] as number
    for (let at = unitStarts[unit] as number; at < end; at += 1) {
      const edge = unitEdges[at] as number
      this.#counts[edge] = (this.#counts[edge] as number) + by
    }
  }
}
