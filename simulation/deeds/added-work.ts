import type { DeedKind } from './deed-kind.ts'
import { laterWork } from './later-work.ts'
import { latestWork } from './latest-work.ts'

/** Work that came later, and what of it a seed draws. */
export interface AddedWork {
  /** Seeds from here on draw it beside the other work, so that those before keep their stories. */
  readonly fromSeed: number
  /** Of the chance that deals it. */
  readonly name: string
  /** Of the first deed of these. */
  readonly number: number
  /** From the first number on, and less than the second. */
  readonly count: { readonly whole: readonly [number, number]; readonly short: readonly [number, number] }
  readonly kinds: Readonly<Record<string, DeedKind>>
}

/** Seeds from here on have wider clusters. */
export const widerFromSeed = 600_000

/** A kind that comes after these needs a line of its own, for the same reason. */
export const addedWork: readonly AddedWork[] = [
  {
    fromSeed: widerFromSeed,
    name: 'later work',
    number: 50,
    count: { whole: [1, 4], short: [1, 3] },
    kinds: laterWork,
  },
  { fromSeed: 700_000, name: 'latest work', number: 60, count: { whole: [1, 2], short: [1, 2] }, kinds: latestWork },
]
