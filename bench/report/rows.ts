export interface Row {
  readonly measured: string
  readonly result: string
  readonly goal: string
  readonly reached: boolean
}

/** A figure without a goal. */
export function told(measured: string, result: string): Row {
  return { measured, result, goal: '-', reached: true }
}

/** Prints one aligned table, and lets the process end with an error when a goal was missed. */
export function printRows(rows: readonly Row[]): void {
  const cells = [
    ['what', 'measured', 'goal', ''],
    ...rows.map(({ measured, result, goal, reached }) => [measured, result, goal, reached ? 'reached' : 'MISSED']),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => (row[column] as string).length)))
  for (const row of cells) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
    console.log(line.trimEnd())
  }
  if (rows.some(({ reached }) => !reached)) process.exitCode = 1
}

export async function cpuSecondsOf(work: () => Promise<void> | void): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}
