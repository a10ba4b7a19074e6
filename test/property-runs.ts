/** How often a property is tried: the full number in the deep suite, a fifth of it before each commit, a fiftieth with each mutant. */
export function runsOf(full: number): number {
  const wanted = process.env['COFFERDAM_RUNS']
  if (wanted === 'full') return full
  return Math.ceil(full / (wanted === 'few' ? 50 : 5))
}
