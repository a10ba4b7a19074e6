/** The known name that a mistyped one most likely means; undefined when none is near enough to be worth saying. */
export function closestName(typed: string, known: readonly string[]): string | undefined {
  const lowered = typed.toLowerCase()
  let best: { name: string; distance: number } | undefined
  for (const name of known) {
    const distance = editDistance(lowered, name.toLowerCase())
    const isNear = distance <= Math.max(1, Math.floor(Math.max(typed.length, name.length) / 3))
    if (isNear && (best === undefined || distance < best.distance)) best = { name, distance }
  }
  return best?.name
}

/** Letters to insert, delete, replace, or swap with their neighbour. */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= from.length; i += 1) {
    const above = rows[i - 1] as number[]
    const row = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (above[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1)
      let cost = Math.min(replaced, (above[j] as number) + 1, (row[j - 1] as number) + 1)
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      if (isSwap) cost = Math.min(cost, ((rows[i - 2] as number[])[j - 2] as number) + 1)
      row.push(cost)
    }
    rows.push(row)
  }
  return (rows[from.length] as number[])[to.length] as number
}
