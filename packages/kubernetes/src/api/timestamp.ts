/** RFC 3339 in UTC, to the second, as Kubernetes writes it. */
export function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

const pattern = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** Milliseconds since 1970, or undefined for what is no RFC 3339 time. Leap seconds count, which `Date.parse` refuses. */
export function parseRfc3339(text: string): number | undefined {
  const match = pattern.exec(text.trim())
  if (match === null) return undefined
  const at = (index: number) => Number(match[index] ?? 0)
  if (at(2) < 1 || at(2) > 12 || at(3) < 1 || at(3) > 31 || at(4) > 23 || at(5) > 59 || at(6) > 60) return undefined
  const offset = (match[8] === '-' ? -1 : 1) * (at(9) * 60 + at(10))
  // Not Date.UTC, which takes the year 1, Kubernetes' "never", for 1901.
  const midnight = new Date(0).setUTCFullYear(at(1), at(2) - 1, at(3))
  const fraction = Math.floor(Number(`0.${match[7] ?? 0}`) * 1000)
  return midnight + (at(4) * 60 + at(5) - offset) * 60_000 + at(6) * 1000 + fraction
}

/** Whether so much time has not passed since. A moment that is still to come was noted before the clock was turned back: it holds up nothing. */
export function isWithin(nowMs: number, sinceMs: number, forMs: number): boolean {
  return sinceMs <= nowMs && nowMs - sinceMs < forMs
}
