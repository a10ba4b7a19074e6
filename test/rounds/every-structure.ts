export interface StructureBounds {
  /** One that is in no placement group is as good as none, so clusters with fewer OSDs are among them. */
  readonly units: number
  readonly things: number
  readonly slacks: readonly number[]
}

/** Which OSDs share which placement groups. */
export interface Structure {
  /** By unit: a bit for each placement group that it is in. Ascending. */
  readonly patterns: readonly number[]
  /** By placement group: how many of its members may be down at once. Ascending. Each has more members than that. */
  readonly slack: readonly number[]
}

/** Calls `visit` once for each structure of just so many placement groups, whatever the OSDs and placement groups are called. */
export function eachStructure(bounds: StructureBounds, visit: (structure: Structure) => void): void {
  for (const slack of slackChoices(bounds.things, bounds.slacks)) eachOf(bounds.units, slack, visit)
}

function slackChoices(things: number, slacks: readonly number[]): number[][] {
  if (things === 0) return [[]]
  return slacks.flatMap((first, at) => slackChoices(things - 1, slacks.slice(at)).map((rest) => [first, ...rest]))
}

/**
 * Patterns ascend, so the names of OSDs do not matter. Among placement groups of equal slack the smaller come first, and where sizes
 * are equal too the order that gives the least list of patterns is the one that counts.
 */
function eachOf(unitCount: number, slack: readonly number[], visit: (structure: Structure) => void): void {
  const patternCount = 2 ** slack.length
  const increments = Array.from({ length: patternCount }, (_, pattern) =>
    slack.reduce((sum, _each, thing) => sum + (((pattern >> thing) & 1) << (4 * thing)), 0),
  )
  const patterns = Array.from({ length: unitCount }, () => 0)
  const orders = new Map<number, readonly (readonly number[])[]>()
  place(0, 0, 0)

  function place(unit: number, least: number, sizes: number): void {
    if (unit === unitCount) {
      const rivals = ordersOf(sizes)
      if (rivals.length > 0 && rivals.every((order) => isLeast(patterns, order)))
        visit({ patterns: [...patterns], slack })
      return
    }
    for (let pattern = least; pattern < patternCount; pattern += 1) {
      patterns[unit] = pattern
      place(unit + 1, pattern, sizes + (increments[pattern] as number))
    }
  }

  /** Orders of the placement groups that leave slack and sizes as they are; none where these do not ascend or bind nobody. */
  function ordersOf(packed: number): readonly (readonly number[])[] {
    const known = orders.get(packed)
    if (known !== undefined) return known
    const sizes = slack.map((_, thing) => (packed >> (4 * thing)) & 15)
    const isMeant = sizes.every((size, thing) => {
      const isAfter = thing === 0 || slack[thing - 1] !== slack[thing] || (sizes[thing - 1] as number) <= size
      return size > (slack[thing] as number) && isAfter
    })
    const found = isMeant ? permutations(slack.map((each, thing) => `${each} ${sizes[thing]}`)) : []
    orders.set(packed, found)
    return found
  }
}

/** All orders of the places that put equal words where equal words were. */
function permutations(words: readonly string[], chosen: readonly number[] = []): number[][] {
  if (chosen.length === words.length) return [[...chosen]]
  return words.flatMap((word, at) =>
    chosen.includes(at) || word !== words[chosen.length] ? [] : permutations(words, [...chosen, at]),
  )
}

function isLeast(patterns: readonly number[], order: readonly number[]): boolean {
  const renamed = patterns.map((pattern) => order.reduce((sum, from, to) => sum | (((pattern >> from) & 1) << to), 0))
  renamed.sort((a, b) => a - b)
  for (let unit = 0; unit < patterns.length; unit += 1) {
    const difference = (renamed[unit] as number) - (patterns[unit] as number)
    if (difference !== 0) return difference > 0
  }
  return true
}
