/** A duration with two or three significant figures, as `kubectl get` shows ages: `5m30s`, `3h2m`, `2d4h`. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000)
  // Clocks of two machines may disagree a little, so just before the start counts as the start.
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return years < 8 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
}

/** How long ago an RFC 3339 time was. */
export function timeSince(time: string | null | undefined, nowMs: number): string {
  const startMs = time ? Date.parse(time) : Number.NaN
  return Number.isNaN(startMs) ? '<unknown>' : humanDuration(nowMs - startMs)
}
