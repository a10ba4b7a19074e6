const msPerUnit = { h: 3_600_000, m: 60_000, s: 1000 } as const

/** Milliseconds of `2h`, `1h30m`, `90s`, as objects write durations; undefined for anything else, and for nothing at all. */
export function parseDuration(text: string): number | undefined {
  const match = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/.exec(text.trim())
  if (match === null || text.trim() === '') return undefined
  const at = (index: number) => Number(match[index] ?? 0)
  return at(1) * msPerUnit.h + at(2) * msPerUnit.m + at(3) * msPerUnit.s
}

/** `2h`, `1h30m`, `45s`: as objects take it. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const parts: [number, string][] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ]
  const text = parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count}${unit}`])).join('')
  return text === '' ? '0s' : text
}
