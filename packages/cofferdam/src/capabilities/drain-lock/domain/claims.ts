import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { type Claim, isLimit } from '../../../ledger/rules/claim.ts'
import { budgetKey, nodeKey } from '../../../ledger/rules/keys.ts'
import type { LedgerEntry, Obstacle } from '../../../ledger/rules/ledger.ts'
import { grant } from '../../../ledger/rules/ledger.ts'
import { type Aside, areSameWishes } from '../../../ledger/rules/queue.ts'
import { isUpdateRequest } from '../../../ledger/rules/update-request.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { DisruptionBlocker } from './decision.ts'
import type { DisruptionView, HeldKeys } from './disruption-view.ts'
import { isAppLocked } from './judge-budget-hold.ts'
import type { BudgetLock } from './plan-pods.ts'
import type { BudgetFacts, NodeFacts, PodFacts } from './snapshot.ts'

/** All that must be held before the node may go: itself, its failure domain in every storage, the budgets of pods that stay. */
export function claimsFor(
  node: Pick<NodeFacts, 'name' | 'uid'>,
  storage: readonly StorageFacts[],
  locks: readonly BudgetLock[],
): readonly Claim[] {
  const claims: Claim[] = [{ key: nodeKey(node.name), uid: node.uid, scope: '' }]
  for (const { key, uid, failureDomain } of storage) claims.push({ key, uid, scope: failureDomain })
  for (const { budget } of locks) claims.push({ key: budgetKey(budget), uid: budget.uid, scope: '' })
  return claims
}

export function doesHold({ entries }: HeldKeys, claims: readonly Claim[]): boolean {
  return claims.every((claim) =>
    entries.some(({ key, uid, scope }) => key === claim.key && uid === claim.uid && scope === claim.scope),
  )
}

/** What the ledger would answer, asked without consequence. */
export function obstaclesTo(view: DisruptionView, claims: readonly Claim[]): readonly Obstacle[] {
  const { request, snapshot, ledger } = view
  const answer = grant(ledger, { requestId: request.id, holder: snapshot.holder, claims, now: '' })
  return answer.granted ? [] : answer.obstacles
}

export function hasTicketFor(
  { ticket, snapshot: { holder } }: DisruptionView,
  claims: readonly Claim[],
  aside?: Aside,
): boolean {
  return (
    ticket !== undefined && ticket.holder === holder && ticket.aside === aside && areSameWishes(ticket.claims, claims)
  )
}

/**
 * Budgets of pods that leave, held by others for pods that stay: their evictions would be refused, and whoever began anyway
 * would hold its keys and wait. Of two that were granted side by side, the one granted first goes on.
 */
export function holdersInTheWay(view: DisruptionView, leaves: readonly PodFacts[]): readonly LedgerEntry[] {
  const { ledger, request, held } = view
  const others = ledger.entries.filter(({ requestId, key }) => requestId !== request.id && key.startsWith('pdb/'))
  if (others.length === 0) return others
  return others.filter((entry) => {
    if (held !== undefined && entry.state === 'Granted' && entry.epoch > held.epoch) return false
    return leaves.some((pod) => budgetsOver(view, pod).some((budget) => budgetKey(budget) === entry.key))
  })
}

export function budgetsOver({ snapshot: { budgets } }: DisruptionView, { kind, budgetUids }: PodFacts): BudgetFacts[] {
  return kind === 'ordinary' ? budgets.filter(({ uid }) => budgetUids.includes(uid)) : []
}

export function obstacleBlocker(view: DisruptionView, obstacle: Obstacle | LedgerEntry): DisruptionBlocker {
  const { key, requestId, holder, since, state } = obstacle
  const common = {
    object: key,
    holder: holder === '' ? `request ${requestId}` : holder,
    since: since === '' ? waitingSince(view) : since,
  }
  if (state !== 'Waiting' && isTakerOf(view, key)) {
    const wayOut = `Copies that leave the node of that request may come to ${view.request.nodeName}. It goes when that node is back or gone.`
    return { ...common, reason: 'NodeTakesCopies', wayOut }
  }
  return {
    ...common,
    reason: isLimit({ key }) ? 'MaintenanceLimit' : state === 'Waiting' ? 'EarlierRequest' : 'HeldByRequest',
    wayOut: isUpdateRequest(requestId) ? updateWayOut : waysOut[state],
  }
}

/** It has nothing of the storage, and is a place for what others lose. */
function isTakerOf({ snapshot }: DisruptionView, storageKey: string): boolean {
  return snapshot.storage.some(({ key, takesCopies }) => key === storageKey && takesCopies === true)
}

const updateWayOut =
  'OSDs are being updated. It is released when those that restart are back and all data is clean; no other OSD starts before.'

const waysOut = {
  Waiting: 'It is first in the queue. Delete its NodeDisruption if it is not needed any more.',
  Granted: 'It continues or gives up soon. Delete its NodeDisruption if it is not needed any more.',
  Acting: 'It is released when the node of that request is back and its pods are ready.',
  Orphaned: 'Its holder is gone. It is released when what the holder started has ended, or by break-glass.',
} as const

export function appLockBlockers(view: DisruptionView, budgets: readonly BudgetFacts[]): DisruptionBlocker[] {
  if (view.breaksGlass) return []
  return budgets.flatMap((budget) => {
    const { appLock } = budget
    if (appLock === undefined || !isAppLocked(budget, view.nowMs)) return []
    const wayOut = `It ends at ${rfc3339(appLock.untilMs)}, or when its owner removes the annotation: ${appLock.reason}.`
    const since = rfc3339(appLock.sinceMs)
    return { object: budgetKey(budget), holder: appLock.holder, since, reason: 'AppLocked', wayOut }
  })
}

export function budgetBlocker(view: DisruptionView, budget: BudgetFacts, reason: Reason, pods = 1): DisruptionBlocker {
  const { disruptionsAllowed, currentHealthy, desiredHealthy } = budget
  const wayOut =
    reason === 'BudgetExhausted'
      ? `It allows ${Math.max(0, disruptionsAllowed)} of the ${pods} that are needed: ${currentHealthy} pods are healthy and ${desiredHealthy} must be.`
      : reason === 'BudgetsSettling'
        ? 'It is locked. Evictions that started before the lock have to end first.'
        : 'The disruption controller has to count it. Check that kube-controller-manager runs.'
  const holder = budget.hold?.request ?? 'its own pods'
  return { object: budgetKey(budget), holder, since: heldSince(view, budget) ?? waitingSince(view), reason, wayOut }
}

/** Since when somebody holds the budget, whose mark it carries. */
function heldSince({ ledger }: DisruptionView, budget: BudgetFacts): string | undefined {
  const key = budgetKey(budget)
  return ledger.entries.find((entry) => entry.key === key && entry.requestId === budget.hold?.requestId)?.since
}

/** Storage that says no, or says nothing. */
export function storageBlockers(view: DisruptionView): DisruptionBlocker[] {
  return view.snapshot.storage.flatMap(({ key, mayGo, failureDomain }): DisruptionBlocker[] => {
    if (mayGo.known && mayGo.value.allowed) return []
    const common = { object: key, holder: `failure domain ${failureDomain}`, since: waitingSince(view) }
    if (!mayGo.known) return [{ ...common, reason: 'SafetyUnknown', wayOut: notKnownYet(mayGo.why) }]
    return [{ ...common, reason: 'StorageNeedsNode', wayOut: mayGo.value.explanation }]
  })
}

/** What is not known is reported as a clause or as a sentence. */
export function notKnownYet(why: string): string {
  return `Not known yet: ${why.replace(/\.$/u, '')}.`
}

export function waitingSince({ request }: DisruptionView): string {
  return rfc3339(request.createdMs)
}
