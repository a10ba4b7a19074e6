export type IntOrString = number | string

/** A count or a percentage of `total`. By default percentages round up, as PodDisruptionBudgets do. */
export function scaledValue(value: IntOrString, total: number, rounding: 'up' | 'down' = 'up'): number {
  if (typeof value === 'number') return value
  const percent = percentOf(value)
  if (percent === undefined) throw new RangeError(`"${value}" is neither a whole number nor a percentage`)
  const exact = (percent * total) / 100
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact)
}

/** 30 for "30%"; undefined for anything that is not a percentage. */
export function percentOf(value: IntOrString): number | undefined {
  if (typeof value !== 'string' || !/^[0-9]+%$/.test(value)) return undefined
  return Number.parseInt(value, 10)
}
