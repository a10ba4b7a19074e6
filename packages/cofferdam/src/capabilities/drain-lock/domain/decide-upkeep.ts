import { type Ledger, raiseEpoch } from '../../../ledger/rules/ledger.ts'
import type { Observed } from '../../../shared/observed.ts'
import { decideOrphans, nodesToReopen, type OrphanDecision, type OrphanSnapshot } from './orphans.ts'
import type { ReportUpkeep, UpkeepStep } from './upkeep-steps.ts'

/** What one pass over the ledger is decided on. */
export interface UpkeepSnapshot {
  /** From the copy at hand. */
  readonly ledger: Observed<Ledger>
  /** The epochs on the records of all requests. */
  readonly epochs: readonly number[]
  /** As far as it is known: from copies, without facts, until the API server was asked. */
  readonly orphans: Omit<OrphanSnapshot, 'ledger'>
  readonly isAsked: boolean
  /** Names of the requests whose keys were entered again in this pass; undefined: the ledger was not rebuilt. */
  readonly restored: readonly string[] | undefined
  readonly isRestoreReported: boolean
  /** What the ledger was made to say of orphans in this pass. */
  readonly settled: readonly OrphanDecision[] | undefined
}

export interface UpkeepDecision {
  readonly steps: readonly UpkeepStep[]
  /** No holder is timed: no reconcile is needed. */
  readonly isQuiet: boolean
}

/**
 * What is done for keys and tickets whose request may be gone. It is decided on the copy at hand first: most passes end there.
 *
 * Guarantees: nothing is freed but on what the API server says of all requests and of what is behind the keys; what a holder left on
 * its objects is taken away before they are free.
 */
export function decideUpkeep(snapshot: UpkeepSnapshot): UpkeepDecision {
  const { ledger: seen, epochs, orphans, restored, settled } = snapshot
  if (!seen.known) {
    const event = { reason: 'LedgerUnusable', explanation: seen.why } as const
    return { steps: [{ do: 'report', about: '', event, isLasting: true }], isQuiet: false }
  }
  const ledger = seen.value
  const isBehind = epochs.some((epoch) => raiseEpoch(ledger, epoch) !== ledger)
  const steps: UpkeepStep[] = [{ do: 'report', about: '', event: undefined, isLasting: false }]
  if (isBehind && restored === undefined) return { steps: [...steps, { do: 'hold', what: 'restore' }], isQuiet: false }
  steps.push(...rebuiltReport(snapshot))
  const isQuiet = orphans.heartbeats.size === 0
  if (settled !== undefined) return { steps: [...steps, ...settled.map(reportOf)], isQuiet }
  return { steps: isQuiet ? steps : [...steps, ...tidy(ledger, snapshot)], isQuiet }
}

function rebuiltReport({ restored = [], isRestoreReported }: UpkeepSnapshot): ReportUpkeep[] {
  if (restored.length === 0 || isRestoreReported) return []
  const names = restored.map((name) => `nodedisruption/${name}`).join(', ')
  const event = { reason: 'LedgerRebuilt', explanation: `What is under way is held again: ${names}.` } as const
  return [{ do: 'report', about: '', event, isLasting: false }]
}

function tidy(ledger: Ledger, { orphans, isAsked }: UpkeepSnapshot): UpkeepStep[] {
  const snapshot = { ...orphans, ledger }
  const decisions = decideOrphans(snapshot)
  if (!isAsked) {
    if (decisions.length === 0) return []
    return [{ do: 'ask', keys: ledger.entries.filter(({ state }) => state === 'Orphaned') }]
  }
  const ended = decisions.filter(({ step }) => step === 'purge' || step === 'free').map(({ requestId }) => requestId)
  const reopened = nodesToReopen(snapshot).filter(({ requestId }) => !ended.includes(requestId))
  const undone = [...ended.map((id) => ledger.entries.filter(({ requestId }) => requestId === id)), reopened]
  return [
    ...undone.filter(({ length }) => length > 0).map((entries): UpkeepStep => ({ do: 'write', entries })),
    { do: 'hold', what: 'settle', seen: orphans },
  ]
}

function reportOf({ step, requestId, reason, explanation }: OrphanDecision): ReportUpkeep {
  return { do: 'report', about: requestId, event: { reason, explanation }, isLasting: step === 'keep' }
}
