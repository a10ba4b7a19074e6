const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const

/** How long ago, as people say it: `45s`, `12m`, `3h`, `5d`. Undefined where the time is not known or not a time. */
export function ageText(since: string | undefined, now: string): string | undefined {
  const seconds = Math.floor((Date.parse(now) - Date.parse(since ?? '')) / 1_000)
  if (Number.isNaN(seconds)) return undefined
  const [unit, size] = units.find(([, each]) => seconds >= each * (each === 1 ? 0 : 2)) ?? ['s', 1]
  return `${Math.max(0, Math.floor(seconds / size))}${unit}`
}
