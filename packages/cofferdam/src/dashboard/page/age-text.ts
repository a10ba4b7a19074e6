/** How long ago, as kubectl says it: 5s, 3m, 2h, 6d. */
export function ageText(since: string, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(since)) / 1000))
  if (Number.isNaN(seconds)) return ''
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}
