/**
 * Whether a line of Ceph's cluster log may be about OSDs that came or went, or about data that cannot be read.
 *
 * It only decides when Ceph is asked: a line too many costs a short question, one too few costs the time to the next poll. How far a
 * recovery is, what was scrubbed and who is logged in stand in the log all day and are passed over.
 */
export function isAboutOsds(line: string): boolean {
  return patterns.some((pattern) => pattern.test(line))
}

const patterns = [
  /\bosd\.\d+ (?:.* )?(?:failed|boot|down|out|destroyed|purged|reported)\b/,
  /\bosds? down\b/,
  /\bOSD_[A-Z_]+/,
  /\bPG_(?:AVAILABILITY|DAMAGED)\b/,
  /\bosdmap e\d+/,
]

/** The OSDs that it names, of a line of any length the first few. */
export function osdsIn(line: string): number[] {
  return [...line.slice(0, 500).matchAll(/\bosd\.(\d{1,6})\b/g)].map(([, id]) => Number(id))
}
