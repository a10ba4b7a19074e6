/** Machines that were replaced, with their disks. */
export interface Heirs {
  replaced(from: string, to: string): void
  /** How many were replaced so far. */
  readonly count: number
  /** The node that has the disks of this one now: itself, where nothing took its place. */
  heirOf(node: string): string
  /** The node whose disks this one has; CRUSH and the labels of OSDs go on to name it. */
  firstOf(node: string): string
}

export function createHeirs(): Heirs {
  const heirs = new Map<string, string>()
  const firsts = new Map<string, string>()
  const follow = (steps: ReadonlyMap<string, string>, node: string): string => {
    const next = steps.get(node)
    return next === undefined ? node : follow(steps, next)
  }
  return {
    get count() {
      return firsts.size
    },
    replaced(from, to) {
      heirs.set(from, to)
      firsts.set(to, from)
    },
    heirOf: (node) => follow(heirs, node),
    firstOf: (node) => follow(firsts, node),
  }
}
