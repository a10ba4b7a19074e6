import type { StorageClaim } from '../../../ledger/rules/storage-claim.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { OsdBudget } from './snapshot.ts'
import type { DrainState } from './state-map.ts'
import type { StorageTurn } from './storage-turn.ts'

/** What the OSDs of one cluster may do next, and why. */
export interface CephDrainDecision {
  readonly reason: Reason
  /** One sentence for people, with names: what is open, what waits, and for what. */
  readonly explanation: string
  readonly failureDomainType: string
  /** The budgets there should be. */
  readonly budgets: readonly Omit<OsdBudget, 'isOurs'>[]
  readonly state: DrainState
  /** Buckets on which noout must be set or unset now; only what we set is ever unset. */
  readonly noout: { readonly set: readonly string[]; readonly unset: readonly string[] }
  /** Per domain: may it be drained now, and if not, why. In the order of their names. */
  readonly domains: readonly DomainAnswer[]
  /** Things that are wrong with single objects; they never change what happens to the others. */
  readonly problems: readonly ObjectProblem[]
  /** True when our maths and Ceph's own answer differ. */
  readonly alarm: boolean
  /** Whether all data is in place, every pod that is gone counted; what only somebody's repair would change does not count. */
  readonly isClean: Observed<boolean>
  /** What to hold in the ledger before the budgets are written, or to release after. Absent: nothing changes there. */
  readonly claim?: StorageClaim
  /** On which nodes mons and mgrs have to stay. Absent: it is not for us to say. */
  readonly turn?: StorageTurn
  /** When to reconcile again although nothing changed; undefined: only on a change. */
  readonly recheckAfterSeconds: number
}

export interface DomainAnswer {
  readonly domain: string
  readonly osds: readonly number[]
  readonly nodes: readonly string[]
  readonly mayDrain: boolean
  readonly reason: Reason
  readonly explanation: string
}
