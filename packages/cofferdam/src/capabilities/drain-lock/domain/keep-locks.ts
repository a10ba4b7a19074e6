import { budgetKey } from '../../../ledger/rules/keys.ts'
import type { DisruptionStep, DisruptionWarning } from './decision.ts'
import {
  type DisruptionView,
  markedBudgets,
  referenceTo,
  unlockSteps,
  withRecord,
  withReferences,
} from './disruption-view.ts'
import { judgeBudgetHold } from './judge-budget-hold.ts'
import type { PodPlan } from './plan-pods.ts'
import type { DisruptionRecord } from './snapshot.ts'

export interface KeptLocks {
  readonly steps: readonly DisruptionStep[]
  readonly record: DisruptionRecord
  readonly warnings: readonly DisruptionWarning[]
}

const none: readonly never[] = []

/**
 * Keeps the budgets of the pods that stay locked while the node may go, and no others. A lock that cannot be had any more is named and
 * holds nothing up: a pod whose node is away is missing from the count already.
 *
 * Guarantees: no step that is known to fail.
 */
export function keepLocks(view: DisruptionView, plan: PodPlan, record: DisruptionRecord, epoch: number): KeptLocks {
  if (plan.locks.length === 0 && record.lockedBudgets.length === 0) return { steps: none, record, warnings: none }
  const { snapshot, request, nowMs, held, breaksGlass } = view
  // Once the node is back or gone, what is locked is released together with the keys.
  const marked = record.phase === 'Recovering' ? none : markedBudgets(view)
  const unneeded = marked.filter(({ uid }) => !plan.locks.some(({ budget }) => budget.uid === uid))
  const steps: DisruptionStep[] = unlockSteps(unneeded)
  const warnings: DisruptionWarning[] = []
  let lockedBudgets = record.lockedBudgets
  for (const { budget, pods } of plan.locks) {
    const key = budgetKey(budget)
    const own = held?.entries.find((entry) => entry.key === key)
    if (own === undefined) {
      warnings.push({
        object: key,
        says: `covers ${pods.join(', ')} since the node began to go, and is not held for it`,
      })
      continue
    }
    lockedBudgets = withReferences(lockedBudgets, [budget])
    if (own.uid !== budget.uid) {
      warnings.push({ object: key, says: 'was deleted and created again: the lock on the old one is void' })
    }
    const { state, reason } = judgeBudgetHold({
      budget,
      pods,
      requestId: request.id,
      epoch,
      nowMs,
      settings: snapshot.settings,
      lockedAtMs: record.lockedAtMs,
      breaksGlass,
      isBound: true,
    })
    if (state === 'lockable') {
      const untilMs = nowMs + snapshot.settings.reservationMs
      steps.push({ step: 'lock', budget: referenceTo(budget), pods, untilMs, epoch })
    }
    if (state === 'refused') {
      const why =
        reason === 'BudgetNotCounted' ? 'it has not been counted since it changed' : 'it allows no eviction now'
      warnings.push({ object: key, says: `cannot be held for ${pods.join(', ')}: ${why}` })
    }
  }
  for (const gone of vanished(view, plan)) warnings.push(gone)
  return { steps, record: withRecord(record, { lockedBudgets }), warnings }
}

/** Pods that stay and that no budget answers for any more, though one did. */
function vanished({ held, snapshot, record }: DisruptionView, plan: PodPlan): DisruptionWarning[] {
  return record.lockedBudgets.flatMap(({ namespace, name, uid }) => {
    const key = budgetKey({ namespace, name })
    const isThere = snapshot.budgets.some((budget) => budget.namespace === namespace && budget.name === name)
    const isHeld = held?.entries.some((entry) => entry.key === key && entry.uid === uid) === true
    if (isThere || !isHeld || !plan.stays.some((pod) => pod.namespace === namespace)) return []
    return { object: key, says: 'was deleted: only the hold in the ledger protects the pods that stay' }
  })
}
