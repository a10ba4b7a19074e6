import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'

/** Draws from a seed in words. */
export interface Chance {
  /** True in this share of all draws. */
  isSo(share: number): boolean
  oneOf<T>(items: readonly T[]): T
  /** Both ends may be drawn. */
  between(least: number, most: number): number
  /** In another order. */
  shuffled<T>(items: readonly T[]): T[]
}

export function createChance({ next }: Pick<Random, 'next'>): Chance {
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    isSo: (share) => next() < share,
    oneOf: (items) => items[between(0, items.length - 1)] as (typeof items)[number],
    between,
    shuffled(items) {
      const keyed = items.map((item) => ({ item, key: next() }))
      return keyed.sort((left, right) => left.key - right.key).map(({ item }) => item)
    },
  }
}
