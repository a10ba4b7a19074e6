/** How often a property is tried: the full number in the deep suite, a fifth of it before each commit, a fiftieth with each mutant. */
export function runsOf(full: number): number {
  const wanted = process.env['COFFERDAM_RUNS']
  if (wanted === 'full' || wanted === 'every') return full
  return Math.ceil(full / (wanted === 'few' ? 50 : 5))
}

/** How far apart the moments are of which a test tries many that are alike: each one is tried by `npm run test:every` alone. */
export function stepOf(apart: number): number {
  return process.env['COFFERDAM_RUNS'] === 'every' ? 1 : apart
}
