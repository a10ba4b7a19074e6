/** How many OSDs may be updated at the same time: so many, or so many of a hundred. */
export type ParallelLimit =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number }

export const defaultParallelLimit: ParallelLimit = { kind: 'percent', percent: 15 }

export const allowedParallelLimits = 'a whole number of at least 1, or a percentage from "1%" to "100%"'

/** Nothing where the value is none that is allowed. As Kubernetes has it, a number is no text and a percentage is one. */
export function parseParallelLimit(value: unknown): ParallelLimit | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 1 ? { kind: 'count', count: value } : undefined
  }
  const digits = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined
  const percent = Number(digits)
  return percent >= 1 && percent <= 100 ? { kind: 'percent', percent } : undefined
}

/** Percentages are rounded down, but never to none. */
export function osdsInParallel(limit: ParallelLimit, osdCount: number): number {
  if (limit.kind === 'count') return limit.count
  return Math.max(1, Math.floor((osdCount * limit.percent) / 100))
}

export function parallelLimitText(limit: ParallelLimit): string {
  return limit.kind === 'count' ? String(limit.count) : `${limit.percent}%`
}
