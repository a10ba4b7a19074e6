import type { Random } from './random.ts'

export interface BackoffPolicy {
  readonly firstMs: number
  readonly longestMs: number
}

/** Doubles with every failure, with chance in its upper half so that many who failed together do not return together. */
export function backoffDelayMs(failures: number, { firstMs, longestMs }: BackoffPolicy, random: Random): number {
  const ceiling = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 40))
  return ceiling / 2 + (ceiling / 2) * random.next()
}
