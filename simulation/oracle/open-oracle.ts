import type { Stage } from '../stage/open-stage.ts'
import type { Write } from '../stage/witness.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'
import { watchApps } from './watch-apps.ts'
import { watchData } from './watch-data.ts'
import { watchFences } from './watch-fences.ts'
import { watchLabels } from './watch-labels.ts'
import { watchLedger } from './watch-ledger.ts'
import { watchNotes } from './watch-notes.ts'
import { watchQuorum } from './watch-quorum.ts'
import { watchStorageBudgets } from './watch-storage-budgets.ts'
import { watchUpdates } from './watch-updates.ts'
import { type WriteOracle, watchWrites } from './watch-writes.ts'

/** Everything that sees the truth and says where a promise was broken. */
export interface WholeOracle {
  readonly writes: WriteOracle
  onWrite(write: Write): (() => void) | undefined
  /** Call it after each step. */
  look(): void
  stop(): void
}

export interface WholeOraclePorts {
  readonly blame: Blame
  readonly excuses: Excuses
  readonly writer: () => string
}

export function openOracle(stage: Stage, { blame, excuses, writer }: WholeOraclePorts): WholeOracle {
  const data = watchData(stage, blame, excuses)
  const apps = watchApps(stage, blame, excuses)
  const ledger = watchLedger(stage, blame, excuses)
  const notes = watchNotes(stage, blame, excuses)
  const budgets = watchStorageBudgets(stage, blame, excuses)
  const fences = watchFences(stage, blame, excuses)
  const labels = watchLabels(stage, blame, excuses)
  const updates = watchUpdates(stage, blame, excuses)
  const quorum = watchQuorum(stage, blame, excuses)
  const writes = watchWrites({ stage: () => stage, data: () => data, fences, quorum, writer, excuses }, blame)
  return {
    writes,
    onWrite: (write) => writes.judge(write),
    look() {
      data?.look()
      apps.look()
      ledger.look()
      budgets.look()
      labels?.look()
      updates?.look()
    },
    stop() {
      ledger.stop()
      notes.stop()
      budgets.stop()
      updates?.stop()
    },
  }
}
