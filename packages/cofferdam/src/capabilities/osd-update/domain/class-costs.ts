import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'
import type { Partition } from './class-limits.ts'

/**
 * For every unit and class: how many edges of the unit have as many other members in there as may be down. It may be in a
 * class exactly when that is 0. Kept up to date move by move, at the cost of the moved unit's edges.
 */
export class ClassCosts {
  readonly classOf: Int32Array
  /** Cost of unit u in class c at `u * count + c`, with the number of classes at the start. */
  readonly cells: Uint16Array
  /** The first `brokenCount` are the units that are where they may not be. */
  readonly broken: Int32Array
  brokenCount = 0
  readonly #graph: SlackHypergraph
  readonly #stride: number
  /** In `broken`, -1 where it is not there. */
  readonly #positions: Int32Array

  /** Assumes: the partition breaks no edge. */
  constructor(graph: SlackHypergraph, { classOf, count }: Partition) {
    this.#graph = graph
    this.#stride = count
    this.classOf = classOf.slice()
    this.cells = new Uint16Array(classOf.length * count)
    this.broken = new Int32Array(classOf.length)
    this.#positions = new Int32Array(classOf.length).fill(-1)
    const { edgeStarts, edgeMembers, slack } = graph
    for (let edge = 0; edge < slack.length; edge += 1) {
      const begin = edgeStarts[edge] as number
      const end = edgeStarts[edge + 1] as number
      const spare = slack[edge] as number
      for (let at = begin; at < end; at += 1) {
        const its = classOf[edgeMembers[at] as number] as number
        if (spare > 1 && !this.#isLastToFill(begin, at, spare)) continue
        for (let member = begin; member < end; member += 1) {
          const unit = edgeMembers[member] as number
          if (classOf[unit] !== its) this.#add(unit, its, 1)
        }
      }
    }
  }

  costOf(unit: number, at: number): number {
    return this.cells[unit * this.#stride + at] as number
  }

  /** Gives the last class the number of a class that has no units any more. */
  renumberLast(last: number, emptied: number): void {
    const { cells, classOf } = this
    for (let unit = 0; unit < classOf.length; unit += 1) {
      const row = unit * this.#stride
      cells[row + emptied] = cells[row + last] as number
      cells[row + last] = 0
      if (classOf[unit] === last) classOf[unit] = emptied
    }
  }

  move(unit: number, to: number): void {
    const { edgeStarts, edgeMembers, slack, unitStarts, unitEdges } = this.#graph
    const { classOf } = this
    const from = classOf[unit] as number
    const lastEdge = unitStarts[unit + 1] as number
    for (let entry = unitStarts[unit] as number; entry < lastEdge; entry += 1) {
      const edge = unitEdges[entry] as number
      const begin = edgeStarts[edge] as number
      const end = edgeStarts[edge + 1] as number
      const spare = slack[edge] as number
      let left = 0
      let met = 0
      for (let at = begin; at < end; at += 1) {
        const other = classOf[edgeMembers[at] as number]
        if (other === from) left += 1
        else if (other === to) met += 1
      }
      const leavesRoom = left === spare || left === spare + 1
      const takesRoom = met === spare - 1 || met === spare
      if (!leavesRoom && !takesRoom) continue
      for (let at = begin; at < end; at += 1) {
        const other = edgeMembers[at] as number
        if (other === unit) continue
        const its = classOf[other]
        if (leavesRoom && (its === from ? left - 1 : left) === spare) this.#add(other, from, -1)
        if (takesRoom && (its === to ? met - 1 : met) === spare - 1) this.#add(other, to, 1)
        if (its === from || its === to) this.#updateBroken(other)
      }
    }
    classOf[unit] = to
    this.#updateBroken(unit)
  }

  #add(unit: number, at: number, by: number): void {
    const cell = unit * this.#stride + at
    this.cells[cell] = (this.cells[cell] as number) + by
  }

  /** Puts the unit among the broken ones or takes it out. */
  #updateBroken(unit: number): void {
    const its = this.classOf[unit] as number
    const isBroken = (this.cells[unit * this.#stride + its] as number) > 0
    const position = this.#positions[unit] as number
    if (isBroken === position >= 0) return
    if (isBroken) {
      this.broken[this.brokenCount] = unit
      this.#positions[unit] = this.brokenCount
      this.brokenCount += 1
      return
    }
    this.brokenCount -= 1
    const last = this.broken[this.brokenCount] as number
    this.broken[position] = last
    this.#positions[last] = position
    this.#positions[unit] = -1
  }

  /** Whether this member is the one with which its class has as many of the edge as may be down. */
  #isLastToFill(begin: number, at: number, spare: number): boolean {
    const { edgeMembers } = this.#graph
    const its = this.classOf[edgeMembers[at] as number]
    let inside = 1
    for (let before = begin; before < at; before += 1) {
      if (this.classOf[edgeMembers[before] as number] === its) inside += 1
    }
    return inside === spare
  }
}
