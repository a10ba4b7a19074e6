const msPerUnit = { h: 3_600_000, m: 60_000, s: 1000 } as const

/** Milliseconds of `2h`, `1h30m`, `90s`, as objects write durations; undefined for anything else, and for nothing at all. */
export function parseDuration(text: string): number | undefined {
  const match = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/.exec(text.trim())
  if (match === null || text.trim() === '') return undefined
  const at = (index: number) => Number(match[index] ?? 0)
  return at(1) * msPerUnit.h + at(2) * msPerUnit.m + at(3) * msPerUnit.s
}
