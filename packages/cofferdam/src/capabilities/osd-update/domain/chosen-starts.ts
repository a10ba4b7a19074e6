import type { BatchQuestion } from './batch-proposal.ts'
import type { RoundPlan } from './plan-rounds.ts'
import type { UpdateOverride } from './update-override.ts'

export interface ChosenStarts {
  readonly start: readonly number[]
  /** Which could not stop now even alone, with all that are restarting. */
  readonly blocked: RoundPlan['blocked']
  readonly roundsLeft: number
  readonly lowerBound: number
  /** Where rounds were planned. */
  readonly plan?: RoundPlan['rounds']
  /** Why the second reckoning refuses what the first one chose. */
  readonly disagreement?: string
  /** What Ceph is to be asked first: then all is decided again. */
  readonly ask?: BatchQuestion
  /** How Ceph's own choice and our reckoning contradict each other. */
  readonly cephDisagrees?: string
  /** Why Ceph has not said what it would choose. */
  readonly silence?: string
  /** Why it is not known yet whether Ceph's choice is right. */
  readonly doubt?: string
  /** The OSD of `start` that a setting lets stop although the checks refuse it. */
  readonly override?: UpdateOverride
  /** What the override of a check waits for. */
  readonly waits?: string
}
