import type { CephMap } from '../../../safety/ceph-map.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { BatchProposal, BatchQuestion } from './batch-proposal.ts'
import type { UpdateSettings } from './update-settings.ts'

export interface StartInput {
  readonly map: CephMap
  readonly settings: UpdateSettings
  /** To be updated, ready, and not restarting. */
  readonly pending: readonly number[]
  /** To be updated, but their pods are not ready: they count as down for others, and as up for themselves. */
  readonly unready: readonly number[]
  /** Restarting, and to be updated once more. */
  readonly again: readonly number[]
  /** All that are gone or may be gone at any time, whatever Ceph says. */
  readonly away: ReadonlySet<number>
  /** At most so many more may be restarting. */
  readonly room: number
  /** How many the canary lets begin beside none; undefined when the ramp is over or was never asked for. */
  readonly ramp: number | undefined
  /** Restarting and expected back: they are the round that is open. */
  readonly running: readonly number[]
  /** Ceph itself is to name the batches. */
  readonly cephChooses?: CephChoice
}

export interface CephChoice extends Pick<BatchQuestion, 'by' | 'version' | 'updated'> {
  /** What it named; undefined: it was not asked yet. */
  readonly proposal?: Observed<BatchProposal>
}
