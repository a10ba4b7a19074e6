import type { Structure } from './every-structure.ts'

/** By set of OSDs, a bit for each: how many there are in it. */
export function countsOf(units: number): Uint8Array {
  const counts = new Uint8Array(2 ** units)
  for (let set = 1; set < counts.length; set += 1) counts[set] = (counts[set >> 1] as number) + (set & 1)
  return counts
}

/** As sets of OSDs, a bit for each. */
export function membersOf({ patterns, slack }: Structure): number[] {
  return slack.map((_, thing) =>
    patterns.reduce((members, pattern, unit) => members | (((pattern >> thing) & 1) << unit), 0),
  )
}

/** Tells the fewest rounds by trying, for every set of OSDs, every safe part of it as its last round. */
export function forceOf(units: number): (structure: Structure) => number {
  const counts = countsOf(units)
  const all = counts.length - 1
  const isSafe = new Uint8Array(counts.length)
  const fewest = new Uint8Array(counts.length)
  return (structure) => {
    const members = membersOf(structure)
    for (let set = 1; set <= all; set += 1) {
      isSafe[set] = 1
      for (let thing = 0; thing < members.length; thing += 1) {
        if ((counts[set & (members[thing] as number)] as number) > (structure.slack[thing] as number)) isSafe[set] = 0
      }
    }
    for (let set = 1; set <= all; set += 1) {
      // Somebody must be in the last round, and rounds can be told in any order: so let it be the first OSD.
      const first = set & -set
      const others = set ^ first
      let best = units
      for (let part = others; ; part = (part - 1) & others) {
        if (isSafe[part | first] === 1) best = Math.min(best, 1 + (fewest[others ^ part] as number))
        if (part === 0) break
      }
      fewest[set] = best
    }
    return fewest[all] as number
  }
}
