import type { DisruptionLedger } from '../api/disruption-ledger.ts'
import { parseLedger } from '../domain/drain-lock/parse-ledger.ts'
import { known } from '../domain/observed.ts'
import type { LedgerView } from './cluster-view.ts'

/** Read by the server alone: the page need not carry what checks an object that people may have edited. */
export function viewLedger(object: DisruptionLedger): LedgerView {
  const parsed = parseLedger(object)
  if (!parsed.known) return { id: object.metadata.name, ledger: parsed }
  const entries = parsed.value.entries.map((entry) => ({ ...entry, renewSequence: 0 }))
  return { id: object.metadata.name, ledger: known({ ...parsed.value, entries }) }
}
