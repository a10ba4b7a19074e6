import type { SlackHypergraph } from '../../../safety/slack-hypergraph.ts'

/** Units are to be parted into as few classes as possible, each of them a safe set within the limits. */
export interface RoundProblem {
  readonly graph: SlackHypergraph
  /** At most so many units in one class. */
  readonly perClass: number
  /** At most so many units of one group in one class. */
  readonly perGroup: number
  /** By unit; -1 where the unit is in no group. */
  readonly groupOf: Int32Array
  readonly groupCount: number
}

/** Which class each unit is in. */
export interface Partition {
  readonly classOf: Int32Array
  readonly count: number
}

/** How full the classes are. */
export class ClassFill {
  readonly #problem: RoundProblem
  readonly #sizes: number[] = []
  readonly #groupSizes: (Int32Array | undefined)[] = []
  readonly #hasGroups: boolean

  constructor(problem: RoundProblem) {
    this.#problem = problem
    this.#hasGroups = problem.groupCount > 0 && problem.perGroup < problem.graph.osds.length
  }

  mayTake(unit: number, into: number): boolean {
    const { perClass, perGroup, groupOf } = this.#problem
    if ((this.#sizes[into] ?? 0) >= perClass) return false
    const group = this.#hasGroups ? (groupOf[unit] as number) : -1
    return group < 0 || (this.#groupSizes[into]?.[group] ?? 0) < perGroup
  }

  add(unit: number, into: number): void {
    this.#change(unit, into, 1)
  }

  remove(unit: number, from: number): void {
    this.#change(unit, from, -1)
  }

  /** Gives the last class the number of a class that has no units any more. */
  renumberLast(last: number, emptied: number): void {
    this.#sizes[emptied] = this.#sizes[last] as number
    this.#sizes.length = last
    this.#groupSizes[emptied] = this.#groupSizes[last]
    this.#groupSizes[last] = undefined
  }

  #change(unit: number, at: number, by: number): void {
    this.#sizes[at] = (this.#sizes[at] ?? 0) + by
    const group = this.#hasGroups ? (this.#problem.groupOf[unit] as number) : -1
    if (group < 0) return
    let sizes = this.#groupSizes[at]
    if (sizes === undefined) {
      sizes = new Int32Array(this.#problem.groupCount)
      this.#groupSizes[at] = sizes
    }
    sizes[group] = (sizes[group] as number) + by
  }
}

/** The units of each class, ascending. */
export function classesOf({ classOf, count }: Partition): number[][] {
  const classes = Array.from({ length: count }, (): number[] => [])
  for (let unit = 0; unit < classOf.length; unit += 1) classes[classOf[unit] as number]?.push(unit)
  return classes
}
