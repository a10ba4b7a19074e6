/** How often a property is tried: the full number in the deep suite, a fifth of it before each commit. */
export function runsOf(full: number): number {
  return process.env['COFFERDAM_RUNS'] === 'full' ? full : Math.ceil(full / 5)
}
