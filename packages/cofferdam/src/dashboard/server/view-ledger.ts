import { parseLedger } from '../../ledger/rules/parse-ledger.ts'
import { parseSettings, settingsAnnotation } from '../../ledger/rules/published-settings.ts'
import type { DisruptionLedger } from '../../shared/kinds/disruption-ledger.ts'
import { known } from '../../shared/observed.ts'
import type { LedgerView } from './cluster-view.ts'

/** Read by the server alone: the page need not carry what checks an object that people may have edited. */
export function viewLedger(object: DisruptionLedger): LedgerView {
  const parsed = parseLedger(object)
  const settings = parseSettings(object.metadata.annotations?.[settingsAnnotation])
  const view = { id: object.metadata.name, ...(settings.known ? { appLocks: settings.value.appLocks } : {}) }
  if (!parsed.known) return { ...view, ledger: parsed }
  const entries = parsed.value.entries.map((entry) => ({ ...entry, renewSequence: 0 }))
  return { ...view, ledger: known({ ...parsed.value, entries }) }
}
