import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { emptyLedger, entriesOf, type Ledger } from '../../../ledger/rules/ledger.ts'
import type { PodReference } from '../../../shared/object-references.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { decideDisruption } from './decide.ts'
import type { DisruptionBlocker, DisruptionDecision, DisruptionStep } from './decision.ts'
import { retryMs, withRecord, withReferences } from './disruption-view.ts'
import { isLedgerStep } from './ledger-step.ts'
import type { FarRequest, PassSnapshot, ProtectedRequest } from './pass-snapshot.ts'
import { podName } from './plan-pods.ts'
import type { DisruptionRecord, DisruptionSnapshot, NodeFacts } from './snapshot.ts'
import type { PassStep, RecordWords, ReportPass } from './steps.ts'

export interface DisruptionPass {
  readonly steps: readonly PassStep[]
  /** Nothing is left to be done for the request once these are performed. */
  readonly isOver: boolean
  readonly recheckAfterMs: number
}

/** Nothing is stored, so there is nothing to come back for soon. */
const dryRunRecheckMs = 60_000

/**
 * Everything that one pass over a request does, in order.
 *
 * Guarantees: nothing is done before our finalizer is on the request; what others rest on is decided on what the API server says, not
 * on a copy; what is done is on record and reported only after all of it was done.
 */
export function decidePass(snapshot: PassSnapshot): DisruptionPass {
  switch (snapshot.state) {
    case 'gone':
      return { steps: [], isOver: true, recheckAfterMs: retryMs }
    case 'unprotected': {
      const { isCancelled, record } = snapshot.request
      const isOver = isCancelled || record.phase === 'Completed' || record.phase === 'Rejected'
      const steps: PassStep[] = isOver ? [] : [{ do: 'write', what: 'add-finalizer' }, { do: 'ask' }]
      return { steps, isOver, recheckAfterMs: retryMs }
    }
    case 'far':
      return decideFar(snapshot)
    case 'protected':
      return decideProtected(snapshot)
  }
}

/** It is reconciled again when an older request has ended. */
function decideFar({ request, ahead, nowMs }: FarRequest): DisruptionPass {
  const { record, createdMs, deadlineMs, nodeName } = request
  const words: RecordWords = {
    reason: 'QueueFull',
    explanation: `${nodeName} has no place in the queue yet: ${ahead} requests are older.`,
    blockedBy: [
      {
        object: 'disruptionledger/cluster',
        holder: `${ahead} older requests`,
        since: rfc3339(createdMs),
        reason: 'QueueFull',
        wayOut: 'It gets a place when older requests have ended. Delete those that are not needed any more.',
      },
    ],
    warnings: [],
  }
  return {
    steps: [{ do: 'write', what: 'record', record: withRecord(record, { phase: 'Waiting' }), words }],
    isOver: false,
    recheckAfterMs: Math.max(1, Math.min(farRecheckMs, (deadlineMs ?? Number.POSITIVE_INFINITY) - nowMs)),
  }
}

const farRecheckMs = 10 * 60_000

function decideProtected(snapshot: ProtectedRequest): DisruptionPass {
  const { seen, isFresh, isReplaced, isDryRun } = snapshot
  if (isReplaced) return { steps: [], isOver: false, recheckAfterMs: seen.settings.renewMs }
  const decision = decideDisruption(seen)
  const recheckAfterMs = decision.recheckAfterMs ?? retryMs
  if (!isFresh && isWeighty(seen, decision)) return { steps: [{ do: 'ask' }], isOver: false, recheckAfterMs }
  const { steps } = decision
  const record = withGranted(decision.record, snapshot.granted)
  const words = wordsOf(snapshot, decision)
  const ledger = seen.ledger.known ? seen.ledger.value : emptyLedger
  const isLetGo = steps.some(({ step }) => step === 'finish')
  const isConcluded = steps.length === 0 && decision.recheckAfterMs === undefined
  const isOver = isLetGo || isConcluded
  const planned: PassStep[] = [
    ...withdrawalsOf(seen, decision),
    ...steps.map((step) => passStep(seen, { step, ledger, words })),
    ...asksOf(seen, decision),
  ]
  if (!isLetGo) planned.push({ do: 'write', what: 'record', record, words })
  planned.push(reportOf(seen, decision))
  if (isConcluded) planned.push({ do: 'write', what: 'drop-finalizer' })
  if (!isOver && !isDryRun && steps.some(leadsOn)) planned.push({ do: 'ask' })
  return { steps: planned, isOver, recheckAfterMs: isDryRun ? dryRunRecheckMs : recheckAfterMs }
}

/** A pod may be gone before it was seen to leave. */
function withGranted(record: DisruptionRecord, granted: readonly PodReference[]): DisruptionRecord {
  if (granted.length === 0 || (record.phase !== 'Draining' && record.phase !== 'Drained')) return record
  return withRecord(record, { evictedPods: withReferences(record.evictedPods, granted) })
}

/** Steps after which everything may have changed at once. */
function leadsOn({ step }: DisruptionStep): boolean {
  return step !== 'renew' && step !== 'evict' && step !== 'record'
}

/** Whether it is to be decided on what the API server says itself, not on a copy. */
function isWeighty({ request }: DisruptionSnapshot, { steps, record }: DisruptionDecision): boolean {
  return steps.some(leadsOn) || (record.phase !== request.record.phase && record.phase === 'Drained')
}

function asksOf({ request }: DisruptionSnapshot, { responders }: DisruptionDecision): PassStep[] {
  if (responders === undefined || !('ask' in responders)) return []
  return [{ do: 'write', what: 'ask-responders', pods: responders.ask, requestId: request.id }]
}

function withdrawalsOf({ request }: DisruptionSnapshot, { responders }: DisruptionDecision): PassStep[] {
  if (responders === undefined || !('withdraw' in responders)) return []
  return [{ do: 'write', what: 'withdraw-asks', asks: responders.withdraw, requestId: request.id }]
}

interface PlannedStep {
  readonly step: DisruptionStep
  /** Empty where it is not known: then there is no step. */
  readonly ledger: Ledger
  readonly words: RecordWords
}

function passStep(seen: DisruptionSnapshot, { step, ledger, words }: PlannedStep): PassStep {
  const { request, holder, settings } = seen
  const { id: requestId, name, nodeName } = request
  if (isLedgerStep(step)) return { do: 'hold', change: step, requestId, request: name, holder }
  switch (step.step) {
    case 'record':
      return { do: 'write', what: 'record', record: step.record, words }
    case 'lock': {
      const { budget, pods, untilMs, epoch } = step
      const reason = request.reason === '' ? `${nodeName} goes` : request.reason
      const hold = { requestId, request: `nodedisruption/${name}`, epoch, untilMs, reason }
      return { do: 'write', what: 'lock', budget, pods, hold, mode: settings.mode }
    }
    case 'unlock':
      return { do: 'write', what: 'unlock', budget: step.budget, requestId, epoch: highestEpoch(ledger) }
    case 'cordon':
    case 'uncordon':
    case 'forget-cordon':
      return {
        do: 'write',
        what: step.step,
        nodeName,
        nodeUid: nodeUidOf(seen, ledger),
        nodeVersion: seen.node?.resourceVersion,
        requestId,
      }
    case 'evict':
      return {
        do: 'evict',
        pods: step.pods,
        token: { requestId, epoch: step.epoch },
        ...(request.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: request.gracePeriodSeconds }),
      }
    case 'finish':
      return { do: 'write', what: 'drop-finalizer' }
  }
}

function highestEpoch({ nextEpoch }: Ledger): number {
  return nextEpoch - 1
}

/** The ledger knows which node it is, even if the record was edited. */
function nodeUidOf({ request, node }: DisruptionSnapshot, ledger: Ledger): string {
  const held = entriesOf(ledger, request.id).find(({ key }) => key === `node/${request.nodeName}`)
  return held?.uid ?? request.record.nodeUid ?? (node as NodeFacts).uid
}

function reportOf(
  { request, node, nowMs }: DisruptionSnapshot,
  { reason, explanation, steps }: DisruptionDecision,
): ReportPass {
  const mayGoNow = steps.some(({ step }) => step === 'intend')
  return {
    do: 'report',
    reason,
    explanation,
    node: node && { name: node.name, uid: node.uid },
    waitedMs: mayGoNow ? nowMs - request.createdMs : undefined,
  }
}

function wordsOf({ faults, refusals }: ProtectedRequest, decision: DisruptionDecision): RecordWords {
  const { reason, explanation, blockedBy, steps } = decision
  const warnings = faults.length === 0 ? decision.warnings : [...decision.warnings, ...faults]
  const evicted = steps.flatMap((step): readonly PodReference[] => (step.step === 'evict' ? step.pods : []))
  const names = new Set(evicted.map(podName))
  const reported = refusals.filter(({ object }) => names.has(object))
  return { reason, explanation, blockedBy: withServersWords(blockedBy, reported), warnings }
}

const mostBlockers = 20

/** What a budget says by its numbers alone. */
const plainReasons: ReadonlySet<Reason> = new Set(['BudgetExhausted', 'BudgetNotCounted'])

/**
 * What the server said of an object counts more than what we made of its status. Only of a number of pods it knows no more: where the budget
 * is kept for storage or a quorum, that it allows none is not the reason.
 */
function withServersWords(
  seen: readonly DisruptionBlocker[],
  said: readonly DisruptionBlocker[],
): readonly DisruptionBlocker[] {
  if (said.length === 0) return seen
  const kept = seen.filter(({ reason }) => !plainReasons.has(reason)).flatMap(({ pods = [] }) => pods)
  const explained = new Set(kept.map((pod) => `pod/${pod}`))
  const reported = said.filter(({ object, reason }) => !plainReasons.has(reason) || !explained.has(object))
  const rest = seen.filter(({ object }) => !reported.some((blocker) => blocker.object === object))
  return [...rest, ...reported].slice(0, mostBlockers)
}
