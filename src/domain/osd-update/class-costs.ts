import type { SlackHypergraph } from '../safety/slack-hypergraph.ts'

/**
 * For every unit and class: how many edges of the unit have as many other members in there as may be down. It may be in a
 * class exactly when that is 0. Kept up to date move by move, at the cost of the moved unit's edges.
 */
export class ClassCosts {
  readonly classOf: Int32Array
  /** Of unit u and class c at `u * classCount + c`. */
  readonly cells: Int32Array
  /** The first `brokenCount` are the units that are where they may not be. */
  readonly broken: Int32Array
  brokenCount = 0
  readonly #graph: SlackHypergraph
  readonly #classCount: number
  /** In `broken`, -1 where it is not there. */
  readonly #positions: Int32Array

  /** Units of class -1 are nowhere yet. The array is changed by `move`. */
  constructor(graph: SlackHypergraph, classOf: Int32Array, classCount: number) {
    this.#graph = graph
    this.#classCount = classCount
    this.classOf = classOf
    this.cells = new Int32Array(classOf.length * classCount)
    this.broken = new Int32Array(classOf.length)
    this.#positions = new Int32Array(classOf.length).fill(-1)
    const { edgeStarts, edgeMembers, slack } = graph
    for (let edge = 0; edge < slack.length; edge += 1) {
      const begin = edgeStarts[edge] as number
      const end = edgeStarts[edge + 1] as number
      for (let at = begin; at < end; at += 1) {
        const seen = classOf[edgeMembers[at] as number] as number
        if (seen < 0 || !this.#isFirstOfClass(begin, at)) continue
        const inside = this.#countIn(begin, end, seen)
        for (let member = begin; member < end; member += 1) {
          const unit = edgeMembers[member] as number
          const others = inside - (classOf[unit] === seen ? 1 : 0)
          if (others >= (slack[edge] as number)) this.#add(unit, seen, 1)
        }
      }
    }
    for (let unit = 0; unit < classOf.length; unit += 1) this.#look(unit)
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
      const leavesRoom = from >= 0 && (left === spare || left === spare + 1)
      const takesRoom = met === spare - 1 || met === spare
      if (!leavesRoom && !takesRoom) continue
      for (let at = begin; at < end; at += 1) {
        const other = edgeMembers[at] as number
        if (other === unit) continue
        const its = classOf[other]
        if (leavesRoom && (its === from ? left - 1 : left) === spare) this.#add(other, from, -1)
        if (takesRoom && (its === to ? met - 1 : met) === spare - 1) this.#add(other, to, 1)
        if (its === from || its === to) this.#look(other)
      }
    }
    classOf[unit] = to
    this.#look(unit)
  }

  #add(unit: number, at: number, by: number): void {
    const cell = unit * this.#classCount + at
    this.cells[cell] = (this.cells[cell] as number) + by
  }

  /** Puts the unit among the broken ones or takes it out. */
  #look(unit: number): void {
    const its = this.classOf[unit] as number
    const isBroken = its >= 0 && (this.cells[unit * this.#classCount + its] as number) > 0
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

  #isFirstOfClass(begin: number, at: number): boolean {
    const { edgeMembers } = this.#graph
    const its = this.classOf[edgeMembers[at] as number]
    for (let before = begin; before < at; before += 1) {
      if (this.classOf[edgeMembers[before] as number] === its) return false
    }
    return true
  }

  #countIn(begin: number, end: number, of: number): number {
    let count = 0
    for (let at = begin; at < end; at += 1) if (this.classOf[this.#graph.edgeMembers[at] as number] === of) count += 1
    return count
  }
}
