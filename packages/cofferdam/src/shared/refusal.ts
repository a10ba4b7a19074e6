import type { Blocker } from './blocker.ts'

/** What stands in the way, as far as the budget itself goes. */
export type Refusal = Pick<Blocker, 'explanation' | 'holder' | 'since' | 'causes' | 'unblocks' | 'override'> & {
  readonly reason: string
}
