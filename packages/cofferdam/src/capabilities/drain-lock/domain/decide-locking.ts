import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Claim } from '../../../ledger/rules/claim.ts'
import { nodeKey } from '../../../ledger/rules/keys.ts'
import type { LedgerEntry, Obstacle } from '../../../ledger/rules/ledger.ts'
import { type Aside, isLongQueue } from '../../../ledger/rules/queue.ts'
import { isUpdateRequest } from '../../../ledger/rules/update-request.ts'
import type { Reason } from '../../../shared/reasons.ts'
import {
  appLockBlockers,
  budgetBlocker,
  budgetsOver,
  claimsFor,
  doesHold,
  hasTicketFor,
  holdersInTheWay,
  obstacleBlocker,
  obstaclesTo,
  storageBlockers,
} from './claims.ts'
import { decideEnding } from './decide-ending.ts'
import type { DisruptionBlocker, DisruptionDecision, DisruptionStep } from './decision.ts'
import {
  asReferences,
  type DisruptionView,
  goOn,
  type HeldKeys,
  markedBudgets,
  missedDeadline,
  recordSteps,
  referenceTo,
  retryMs,
  soonMs,
  unlockSteps,
  withRecord,
  withReferences,
} from './disruption-view.ts'
import { type HoldJudgement, judgeBudgetHold } from './judge-budget-hold.ts'
import { type LimitAnswer, limitAnswer } from './limit-claims.ts'
import { breakGlass, isOfBudget, isReserved, keepBroken, takenByOverride } from './overrides.ts'
import { type BudgetLock, type PodPlan, planPods } from './plan-pods.ts'
import { lossBlockers } from './pod-losses.ts'
import { fallbackAtMs, isFallbackTime, queueTime } from './queue-time.ts'
import type { BudgetFacts, DisruptionRecord, NodeFacts, PodFacts } from './snapshot.ts'
import { isStorageToAnswer, keepForAnswer } from './storage-answer.ts'

interface Planned {
  readonly node: NodeFacts
  readonly plan: PodPlan
  readonly judged: readonly JudgedLock[]
  readonly limits: LimitAnswer
}

interface JudgedLock extends BudgetLock {
  readonly judgement: HoldJudgement
}

/** From the first snapshot to the written intent: nothing of the node has been touched yet. */
export function decideLocking(view: DisruptionView): DisruptionDecision {
  const { snapshot, record, request } = view
  const { node } = snapshot
  if (node === undefined) {
    const explanation = `Node ${request.nodeName} does not exist. Create a request for an existing node.`
    return decideEnding(view, { phase: 'Rejected', reason: 'NodeUnknown', explanation })
  }
  if (record.nodeUid !== undefined && record.nodeUid !== node.uid) {
    const explanation = `${request.nodeName} is not the node that ${request.name} was created for: it was replaced. Create a new request if this one has to be drained too.`
    return decideEnding(view, { phase: 'Rejected', reason: 'NodeReplaced', explanation })
  }
  const missedMs = missedDeadline(view)
  if (missedMs !== undefined) {
    const explanation = `${request.name} missed its deadline ${rfc3339(missedMs)} before it could start; ${node.name} was not touched.`
    return decideEnding(view, { phase: 'Rejected', reason: 'DeadlinePassed', explanation })
  }
  const plan = planPods({
    seen: snapshot,
    hasFallenBack: record.hasFallenBack,
    bound: undefined,
    isPatienceOver: false,
  })
  const judged = plan.locks.map((lock): JudgedLock => ({ ...lock, judgement: judge(view, lock) }))
  const planned = { node, plan, judged, limits: limitAnswer(view) }
  return view.held === undefined ? decideWaiting(view, planned) : decideHeld(view, planned, view.held)
}

function judge(view: DisruptionView, { budget, pods }: BudgetLock): HoldJudgement {
  const { nowMs, request, held, record, breaksGlass, snapshot } = view
  return judgeBudgetHold({
    budget,
    pods,
    requestId: request.id,
    epoch: held?.epoch,
    nowMs,
    settings: snapshot.settings,
    lockedAtMs: record.lockedAtMs,
    breaksGlass,
    isBound: false,
  })
}

/** Nothing is held: everything is asked for at once, as soon as nothing but the ledger could say no. */
function decideWaiting(view: DisruptionView, planned: Planned): DisruptionDecision {
  const { request } = view
  const { node, plan } = planned
  const marked = markedBudgets(view)
  const claims = [...claimsFor(node, view.snapshot.storage, plan.locks), ...planned.limits.claims]
  const obstacles = obstaclesTo(view, claims)
  const inTheWay = holdersInTheWay(view, plan.leaves)
  const waiting = withRecord(view.record, {
    phase: 'Waiting',
    epoch: undefined,
    nodeUid: node.uid,
    lockedAtMs: undefined,
    ...queueTime(view, obstacles.length + inTheWay.length === 0),
    // Until its lock is released, the pod that a budget was locked for must stay on record.
    ...(marked.length === 0 ? { skippedPods: asReferences(view.record.skippedPods, []) } : {}),
  })
  if (marked.length > 0) {
    const explanation = `Locks of an earlier attempt for ${node.name} are released first: a queued request holds nothing.`
    return goOn(view, {
      reason: 'LocksPending',
      explanation,
      record: waiting,
      steps: [...recordSteps(view, waiting), ...unlockSteps(marked)],
      warnings: plan.warnings,
    })
  }
  const timed = { ...view, record: waiting }
  if (isFallbackDue(timed, planned)) return fallBack(timed, planned)
  const found = [...obstacles, ...inTheWay]
  const overridden = view.breaksGlass ? takenByOverride(view, found) : []
  const warnings = [...plan.warnings, ...overridden]
  const isBreaking = view.breaksGlass && overridden.length === 0
  const isTheirs = (blocker: DisruptionBlocker) =>
    isByHolder(blocker, obstacles) && (!isBreaking || isReserved(view, blocker))
  const outside = blockersOutside(view, planned).filter((blocker) => !isTheirs(blocker))
  const passed = isBreaking ? [] : inTheWay
  if (outside.length + passed.length > 0) {
    return wait(view, {
      record: waiting,
      steps: queueSteps(view, claims, asideFor(timed, outside)),
      blockedBy: [...outside, ...blockersFrom(view, [...passed, ...obstacles])],
      warnings,
      recheckAfterMs: recheckBehind(view, obstacles),
    })
  }
  if (isBreaking && found.length > 0) return breakGlass(view, { claims, found, warnings: plan.warnings })
  if (obstacles.length > 0) {
    const steps = queueSteps(view, claims, undefined)
    const recheckAfterMs = recheckBehind(view, obstacles)
    return wait(view, { record: waiting, steps, blockedBy: blockersFrom(view, obstacles), warnings, recheckAfterMs })
  }
  const explanation = `${claims.map(({ key }) => key).join(', ')} ${claims.length === 1 ? 'is' : 'are'} requested for ${request.name}, all or none.`
  return goOn(view, { reason: 'LocksAsked', explanation, record: waiting, steps: [{ step: 'take', claims }], warnings })
}

/** Whoever is in its way in a long queue wakes it by leaving; until then it need not ask often. */
function recheckBehind({ ledger }: DisruptionView, obstacles: readonly Obstacle[]): number {
  return obstacles.length > 0 && isLongQueue(ledger) ? behindMs : retryMs
}

const behindMs = 5 * 60_000

function queueSteps(view: DisruptionView, claims: readonly Claim[], aside: Aside | undefined): DisruptionStep[] {
  return hasTicketFor(view, claims, aside) ? [] : [{ step: 'queue', claims, aside }]
}

/**
 * Whether later requests may go first while something outside the ledger keeps this one waiting. A budget without disruptions left has
 * them again soon, or the locks are given up: it may be passed once. What can last, such as an owner's lock or storage that
 * needs the node, must not keep others from going; the place stays the same, so that it is next when that ends.
 */
function asideFor(view: DisruptionView, outside: readonly DisruptionBlocker[]): Aside | undefined {
  const waits = outside.filter((blocker) => !isByUpdate(view, blocker))
  if (waits.length === 0) return undefined
  return isFallbackTime(view) || waits.some(({ reason }) => !passingReasons.has(reason)) ? 'Always' : 'Once'
}

const passingReasons: ReadonlySet<Reason> = new Set(['BudgetExhausted', 'BudgetNotCounted', 'BudgetsSettling'])

/** A disruption that another request has taken is not missing for its own reasons: it comes back with that request's end. */
function isByHolder({ object, reason }: DisruptionBlocker, obstacles: readonly Obstacle[]): boolean {
  return reason === 'BudgetExhausted' && obstacles.some(({ key, kind }) => key === object && kind === 'held')
}

/**
 * Storage says no while its OSDs are updated: that is the doing of the very holder that is waited for. An update lets nobody in before
 * it ends unless somebody stands in the queue, and can take hours.
 */
function isByUpdate({ ledger }: DisruptionView, { object, reason }: DisruptionBlocker): boolean {
  if (reason !== 'StorageNeedsNode' && reason !== 'SafetyUnknown') return false
  return ledger.entries.some(({ key, requestId }) => key === object && isUpdateRequest(requestId))
}

/** Keys are held: lock every budget, take another snapshot, write the intent. Whatever does not hold releases everything. */
function decideHeld(view: DisruptionView, planned: Planned, held: HeldKeys): DisruptionDecision {
  const { snapshot, nowMs } = view
  const { node, plan, judged } = planned
  const { warnings } = plan
  const claims = [...claimsFor(node, snapshot.storage, plan.locks), ...planned.limits.claims]
  const outside = blockersOutside(view, planned)
  const inTheWay = blockersFrom(view, holdersInTheWay(view, plan.leaves))
  const isVerified = judged.every(({ judgement }) => judgement.isSafe)
  if (!isVerified && isFallbackDue(view, planned)) return fallBack(view, planned)
  if (view.breaksGlass && inTheWay.length === 0 && outside.length > 0 && outside.every(isOfBudget))
    return keepBroken(view, { record: lockingRecord(view, planned, held), blockedBy: outside, warnings })
  if (inTheWay.length === 0 && isStorageToAnswer(view, held, outside)) {
    return keepForAnswer(view, { record: lockingRecord(view, planned, held), blockedBy: outside, warnings })
  }
  if (outside.length + inTheWay.length > 0) {
    const back: BackStep = { step: 'step-back', epoch: held.epoch, aside: asideFor(view, outside) }
    return giveUp(view, planned, { back, blockedBy: [...outside, ...inTheWay] })
  }
  const locking = lockingRecord(view, planned, held)
  const unneeded = markedBudgets(view).filter(({ uid }) => !plan.locks.some(({ budget }) => budget.uid === uid))
  if (unneeded.length > 0 || !doesHold(held, claims)) {
    const explanation = `What ${node.name} needs has changed since the holds were acquired; they are requested again.`
    const steps: DisruptionStep[] = [...unlockSteps(unneeded), { step: 'take', claims }]
    return goOn(view, { reason: 'LocksAsked', explanation, record: locking, steps, warnings })
  }
  const missing = judged.filter(({ judgement }) => judgement.state === 'lockable')
  if (missing.length > 0) {
    const record = withRecord(locking, { lockedAtMs: undefined })
    const untilMs = nowMs + snapshot.settings.reservationMs
    const locks = missing.map(({ budget, pods }): DisruptionStep => {
      return { step: 'lock', budget: referenceTo(budget), pods, untilMs, epoch: held.epoch }
    })
    const explanation = `${missing.map(({ budget }) => `${budget.namespace}/${budget.name}`).join(', ')} must hold for the pods that stay on ${node.name}.`
    const steps = [...recordSteps(view, record), ...locks]
    return goOn(view, { reason: 'LocksPending', explanation, record, steps, warnings })
  }
  const pending = judged.filter(({ judgement }) => judgement.state === 'pending')
  const [first] = pending
  if (first !== undefined) {
    const isFirstPass = snapshot.settings.mode === 'settle' && locking.lockedAtMs === undefined
    const record = isFirstPass ? withRecord(locking, { lockedAtMs: nowMs }) : locking
    const settledInMs = (record.lockedAtMs ?? nowMs) + snapshot.settings.settleMs - nowMs
    return goOn(view, {
      reason: first.judgement.reason as Reason,
      explanation: `The budgets of the pods that stay on ${node.name} are locked; the locks are not in effect yet.`,
      record,
      steps: recordSteps(view, record),
      blockedBy: pending.map((lock) =>
        budgetBlocker(view, lock.budget, lock.judgement.reason as Reason, lock.pods.length),
      ),
      warnings,
      recheckAfterMs: snapshot.settings.mode === 'settle' ? Math.max(1, settledInMs) : soonMs,
    })
  }
  if (view.request.intent === 'Reboot' && node.isKeptFromScaleDown === false) {
    const unkept: DisruptionBlocker = {
      object: nodeKey(node.name),
      holder: 'cofferdam',
      since: held.since,
      reason: 'AutoscalersNotKept',
      wayOut: `The operator marks the node for cluster-autoscaler and Karpenter within seconds; if not, its log says why.`,
    }
    return goOn(view, {
      reason: 'AutoscalersNotKept',
      explanation: `All holds for ${node.name} are acquired. Its drain starts when autoscalers are kept from the empty node.`,
      record: locking,
      steps: recordSteps(view, locking),
      blockedBy: [unkept],
      warnings,
      recheckAfterMs: soonMs,
    })
  }
  const record = withRecord(locking, { bootIDBefore: node.bootID })
  return goOn(view, {
    reason: 'IntentWritten',
    explanation: `All holds for ${node.name} are acquired. Its drain starts now.`,
    record,
    steps: [...recordSteps(view, record), { step: 'intend', epoch: held.epoch, bootID: node.bootID }],
    warnings,
  })
}

function lockingRecord(view: DisruptionView, { node, plan }: Planned, held: HeldKeys): DisruptionRecord {
  const { record } = view
  return withRecord(record, {
    phase: 'Locking',
    epoch: held.epoch,
    nodeUid: node.uid,
    lockedBudgets: withReferences(
      record.lockedBudgets,
      plan.locks.map(({ budget }) => budget),
    ),
    skippedPods: asReferences(record.skippedPods, plan.stays),
    lockedAtMs: record.epoch === held.epoch ? record.lockedAtMs : undefined,
  })
}

/** What keeps the node from going whatever the ledger says. */
function blockersOutside(view: DisruptionView, { plan, judged, limits }: Planned): DisruptionBlocker[] {
  const lost = lossBlockers(view, plan.leaves)
  const isAnyLocked = view.snapshot.budgets.some(({ appLock }) => appLock !== undefined)
  const locked = isAnyLocked ? appLockBlockers(view, budgetsInPlan(view, plan)) : []
  const refused = judged.flatMap((lock) => refusal(view, lock))
  return [...lost, ...locked, ...refused, ...storageBlockers(view), ...limits.blockers]
}

function blockersFrom(view: DisruptionView, found: readonly (Obstacle | LedgerEntry)[]): DisruptionBlocker[] {
  return found.map((each) => obstacleBlocker(view, each))
}

function budgetsInPlan(view: DisruptionView, { locks, leaves }: PodPlan): BudgetFacts[] {
  const budgets = new Set(locks.map(({ budget }) => budget))
  for (const pod of leaves) for (const budget of budgetsOver(view, pod)) budgets.add(budget)
  return [...budgets]
}

/** What the owner's lock says is said once, for all budgets together. */
function refusal(view: DisruptionView, { budget, pods, judgement }: JudgedLock): DisruptionBlocker[] {
  const { state, isSafe, reason } = judgement
  if (reason === undefined || reason === 'AppLocked') return []
  return state === 'refused' || (state === 'locked' && !isSafe)
    ? [budgetBlocker(view, budget, reason, pods.length)]
    : []
}

function isFallbackDue(view: DisruptionView, { plan }: Planned): boolean {
  const isTime = plan.locks.length > 0 && !view.record.hasFallenBack && isFallbackTime(view)
  return isTime && lossBlockers(view, leavesAfterFallback(view)).length === 0
}

/** Who would be evicted if the locks were given up. Falling back to what must not be done would end the wait for the locks too. */
function leavesAfterFallback({ snapshot }: DisruptionView): readonly PodFacts[] {
  return planPods({ seen: snapshot, hasFallenBack: true, bound: undefined, isPatienceOver: false }).leaves
}

function fallBack(view: DisruptionView, { node, plan }: Planned): DisruptionDecision {
  const { held, request } = view
  const record = withRecord(view.record, {
    phase: 'Waiting',
    epoch: undefined,
    nodeUid: node.uid,
    hasFallenBack: true,
    lockedAtMs: undefined,
  })
  const marked = markedBudgets(view)
  const steps: DisruptionStep[] = [...recordSteps(view, record), ...unlockSteps(marked)]
  if (held !== undefined) steps.push({ step: 'step-back', epoch: held.epoch, aside: undefined })
  const pods = plan.stays.map(({ namespace, name }) => `${namespace}/${name}`).join(', ')
  const explanation = `Not all locks were acquired by ${rfc3339(fallbackAtMs(view) as number)}: ${request.name} releases them, and ${pods} will be evicted like the rest.`
  return goOn(view, { reason: 'FellBack', explanation, record, steps, warnings: plan.warnings })
}

type BackStep = Extract<DisruptionStep, { step: 'step-back' }>

function giveUp(
  view: DisruptionView,
  { node, plan }: Planned,
  { back, blockedBy }: { readonly back: BackStep; readonly blockedBy: readonly DisruptionBlocker[] },
): DisruptionDecision {
  const record = withRecord(view.record, {
    phase: 'Waiting',
    epoch: undefined,
    nodeUid: node.uid,
    // Nothing was begun in the boot that was about to go.
    bootIDBefore: undefined,
    lockedAtMs: undefined,
  })
  const steps: DisruptionStep[] = [...unlockSteps(markedBudgets(view)), back]
  return wait(view, { record, steps, blockedBy, warnings: plan.warnings })
}

function wait(
  view: DisruptionView,
  decided: Pick<DisruptionDecision, 'record' | 'steps' | 'blockedBy' | 'warnings'> & {
    readonly recheckAfterMs?: number
  },
): DisruptionDecision {
  const { object, holder, reason } = decided.blockedBy[0] as DisruptionBlocker
  const { nodeName } = view.request
  const more = decided.blockedBy.length > 1 ? ` and ${decided.blockedBy.length - 1} more` : ''
  return goOn(view, {
    recheckAfterMs: retryMs,
    ...decided,
    reason,
    explanation: `${nodeName} waits for ${object}${more}, held by ${holder}; it holds nothing while it waits.`,
  })
}
