import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { explainIgnoredGlass, isBreakingGlass } from '../../../ledger/rules/break-glass.ts'
import { parseBudgetKey } from '../../../ledger/rules/keys.ts'
import type { Ledger, LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { Ticket } from '../../../ledger/rules/queue.ts'
import type { BudgetReference, PodReference } from '../../../shared/object-references.ts'
import type { DisruptionDecision, DisruptionStep, DisruptionWarning } from './decision.ts'
import { fallbackAtMs } from './queue-time.ts'
import type { BudgetFacts, DisruptionRecord, DisruptionSnapshot, NodeFacts, RequestView } from './snapshot.ts'

/** A snapshot whose ledger is known, with what concerns the request picked out. */
export interface DisruptionView {
  readonly snapshot: DisruptionSnapshot
  readonly nowMs: number
  readonly request: RequestView
  readonly record: DisruptionRecord
  readonly ledger: Ledger
  /** Undefined: the ledger has no entry of the request. */
  readonly held: HeldKeys | undefined
  readonly ticket: Ticket | undefined
  readonly breaksGlass: boolean
}

export interface HeldKeys {
  readonly entries: readonly LedgerEntry[]
  readonly epoch: number
  /** Who took the first of them, and when. */
  readonly holder: string
  readonly since: string
  readonly hasBegun: boolean
  /** Somebody else than this process holds it, or nobody does any more. */
  readonly isForeign: boolean
}

/** Of a request that holds something. */
export interface HeldView extends DisruptionView {
  readonly held: HeldKeys
}

export function viewOf(snapshot: DisruptionSnapshot, ledger: Ledger): DisruptionView {
  const { nowMs, request, holder } = snapshot
  const { breakGlass } = request
  return {
    snapshot,
    nowMs,
    request,
    record: request.record,
    ledger,
    held: heldBy(ledger, request.id, holder),
    ticket: ledger.tickets.find(({ requestId }) => requestId === request.id),
    breaksGlass: isBreakingGlass(breakGlass, nowMs),
  }
}

function heldBy(ledger: Ledger, requestId: string, holder: string): HeldKeys | undefined {
  const entries = ledger.entries.filter((entry) => entry.requestId === requestId)
  const [first] = entries
  if (first === undefined) return undefined
  const { epoch, since } = first
  return {
    entries,
    epoch,
    holder: first.holder,
    since,
    hasBegun: entries.some(({ state }) => state !== 'Granted'),
    isForeign: entries.some((entry) => entry.holder !== holder || entry.state === 'Orphaned' || entry.epoch !== epoch),
  }
}

/** The node that the request is about; undefined when it is gone, or another one has its name. */
export function ownNode({ snapshot: { node }, record, held }: DisruptionView): NodeFacts | undefined {
  if (node === undefined) return undefined
  const nodeUid = held?.entries.find(({ key }) => key.startsWith('node/'))?.uid ?? record.nodeUid
  return nodeUid === undefined || nodeUid === node.uid ? node : undefined
}

/** Which boot of the node goes or went; undefined when none was written down. */
export function bootThatGoes({ held, record }: DisruptionView): string | undefined {
  const recorded = held?.entries.find(({ bootID }) => bootID !== undefined && bootID !== '')?.bootID
  return recorded ?? (record.bootIDBefore === '' ? undefined : record.bootIDBefore)
}

/** Whether the node runs in another boot than the one that goes. */
export function hasRebooted(view: DisruptionView, { bootID }: NodeFacts): boolean {
  const before = bootThatGoes(view)
  return before !== undefined && bootID !== '' && bootID !== before
}

/** The deadline, once it has passed. */
export function missedDeadline({ request: { deadlineMs }, nowMs }: DisruptionView): number | undefined {
  return deadlineMs !== undefined && nowMs >= deadlineMs ? deadlineMs : undefined
}

/** Budgets that carry something of the request: its mark, or the disruption of a pod on its record. */
export function markedBudgets({ snapshot, request, record, nowMs }: DisruptionView): readonly BudgetFacts[] {
  return snapshot.budgets.filter((budget) => {
    if (budget.hold !== undefined) return budget.hold.requestId === request.id
    if (!record.lockedBudgets.some(({ uid }) => uid === budget.uid)) return false
    return record.skippedPods.some(
      ({ namespace, name }) => namespace === budget.namespace && (budget.disruptedUntilMs[name] ?? 0) > nowMs,
    )
  })
}

/**
 * The same, and those that the ledger has it hold: what was seen of a budget may be older than its mark, and once the keys are free
 * there is no other trace of whose it was.
 */
export function budgetsToFree(view: DisruptionView): readonly BudgetReference[] {
  const marked = markedBudgets(view)
  const more = (view.held?.entries ?? []).flatMap(({ key, uid }) => {
    const budget = parseBudgetKey(key)
    return budget === undefined || marked.some((each) => each.uid === uid) ? [] : [{ ...budget, uid }]
  })
  return more.length === 0 ? marked : [...marked, ...more]
}

export function unlockSteps(budgets: readonly BudgetReference[]): DisruptionStep[] {
  return budgets.map((budget) => ({ step: 'unlock', budget: referenceTo(budget) }))
}

export function referenceTo({ namespace, name, uid }: PodReference): PodReference {
  return { namespace, name, uid }
}

/** The same list when it names the same objects, so that a record that says nothing new is not written. */
export function asReferences(before: readonly PodReference[], now: readonly PodReference[]): readonly PodReference[] {
  const isSame = before.length === now.length && now.every(({ uid }, index) => before[index]?.uid === uid)
  return isSame ? before : now.map(referenceTo)
}

export function withReferences(
  before: readonly PodReference[],
  more: readonly PodReference[],
): readonly PodReference[] {
  const fresh = more.filter(({ uid }) => !before.some((each) => each.uid === uid))
  return fresh.length === 0 ? before : [...before, ...fresh.map(referenceTo)]
}

/** The same record when nothing differs. */
export function withRecord(record: DisruptionRecord, change: Partial<DisruptionRecord>): DisruptionRecord {
  const fields = Object.keys(change) as (keyof DisruptionRecord)[]
  return fields.every((field) => record[field] === change[field]) ? record : { ...record, ...change }
}

export function recordSteps({ request }: DisruptionView, record: DisruptionRecord): DisruptionStep[] {
  return record === request.record ? [] : [{ step: 'record', record }]
}

export type Conclusion = Pick<DisruptionDecision, 'reason' | 'explanation'> &
  Partial<Pick<DisruptionDecision, 'record' | 'steps' | 'responders' | 'blockedBy' | 'warnings' | 'recheckAfterMs'>>

/** How soon to reconcile again after steps that others may answer to. */
export const soonMs = 1000
/** How often an eviction that was refused is asked for again. */
export const retryMs = 5000
const patientMs = 15_000
const most = 20

/** A decision that goes on: the heartbeat of what is held is renewed, and the next reconcile is no later than anything is timed for. */
export function goOn(view: DisruptionView, conclusion: Conclusion): DisruptionDecision {
  const { steps = [], blockedBy = [], warnings = [], record = view.record } = conclusion
  const { alive, againMs } = stayAlive(view, steps)
  let recheckAfterMs = Math.min(againMs, conclusion.recheckAfterMs ?? (steps.length > 0 ? soonMs : patientMs))
  const { deadlineMs, breakGlass } = view.request
  const fallsBackAtMs = record.hasFallenBack ? undefined : fallbackAtMs({ ...view, record })
  for (const atMs of [deadlineMs, breakGlass?.untilMs, fallsBackAtMs]) {
    if (atMs !== undefined && atMs > view.nowMs) recheckAfterMs = Math.min(recheckAfterMs, atMs - view.nowMs)
  }
  return {
    reason: conclusion.reason,
    explanation: conclusion.explanation,
    record,
    steps: alive.length === 0 ? steps : [...alive, ...steps],
    ...(conclusion.responders === undefined ? {} : { responders: conclusion.responders }),
    blockedBy: blockedBy.length > most ? blockedBy.slice(0, most) : blockedBy,
    warnings: withGlassWarning(view, warnings),
    recheckAfterMs,
  }
}

/** A decision after which nothing is left to be done or timed. */
export function conclude(view: DisruptionView, conclusion: Conclusion): DisruptionDecision {
  const { record = view.record, steps = [], blockedBy = [], warnings = [] } = conclusion
  return { ...conclusion, record, steps, blockedBy, warnings, recheckAfterMs: undefined }
}

function withGlassWarning(view: DisruptionView, warnings: readonly DisruptionWarning[]): readonly DisruptionWarning[] {
  const { breakGlass, name } = view.request
  if (breakGlass === undefined || view.breaksGlass) return warnings
  const says = explainIgnoredGlass(breakGlass, view.nowMs)
  return [...warnings, { object: `nodedisruption/${name}`, says }]
}

const sequenceCycle = 4

/**
 * A renewal for every span of `renewMs` since the keys were taken, and the time until the next. The sequence follows the
 * number of spans in a small circle, so that whoever was away for long does not make up for all of it.
 */
function stayAlive(
  { held, nowMs, snapshot }: DisruptionView,
  steps: readonly DisruptionStep[],
): { readonly alive: readonly DisruptionStep[]; readonly againMs: number } {
  const [first] = held?.entries ?? []
  if (held === undefined || first === undefined) return { alive: [], againMs: Number.POSITIVE_INFINITY }
  const spanMs = Math.max(1, snapshot.settings.renewMs)
  const heldMs = Math.max(0, nowMs - (parseRfc3339(held.since) ?? 0))
  const againMs = spanMs - (heldMs % spanMs)
  const isDue = first.renewSequence % sequenceCycle !== Math.floor(heldMs / spanMs) % sequenceCycle
  const isEnding = held.isForeign || steps.some(({ step }) => step === 'release' || step === 'take')
  return { alive: isDue && !isEnding ? [{ step: 'renew', epoch: held.epoch }] : [], againMs }
}
