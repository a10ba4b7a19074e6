import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { Step } from '../../../shared/steps.ts'
import type { OrphanDecision, OrphanSnapshot } from './orphans.ts'

/** What one pass over the ledger does for what no living request manages. */
export type UpkeepStep = AskWhatIsBehind | RestoreLedger | SettleOrphans | UndoOrphan | ReportUpkeep

/** List all requests at the API server, and observe what is behind these keys. */
export interface AskWhatIsBehind extends Step {
  readonly do: 'ask'
  readonly keys: readonly LedgerEntry[]
}

/** Enter again what the ledger has forgotten. */
export interface RestoreLedger extends Step {
  readonly do: 'hold'
  readonly what: 'restore'
}

/** Free, orphan or withdraw in the ledger what has ended, as it is at that time. */
export interface SettleOrphans extends Step {
  readonly do: 'hold'
  readonly what: 'settle'
  readonly seen: Omit<OrphanSnapshot, 'ledger'>
}

/** Take away what a vanished holder left on the objects behind its keys. */
export interface UndoOrphan extends Step {
  readonly do: 'write'
  readonly entries: readonly LedgerEntry[]
}

export interface ReportUpkeep extends Step {
  readonly do: 'report'
  /** The request that it is about; empty: the ledger itself. */
  readonly about: string
  /** Undefined: what was reported of it before is over. */
  readonly event: Pick<OrphanDecision, 'reason' | 'explanation'> | undefined
  /** It lasts: reported once until something else is reported of it. */
  readonly isLasting: boolean
}
