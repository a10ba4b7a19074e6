import { budgetKey, parseBudgetKey } from '../../../ledger/rules/keys.ts'
import type { BudgetReference } from '../../../shared/object-references.ts'
import type { DisruptionStep } from './decision.ts'
import { type HeldView, unlockSteps, withRecord, withReferences } from './disruption-view.ts'
import type { BudgetLock } from './plan-pods.ts'
import type { DisruptionRecord, PodFacts } from './snapshot.ts'

export interface ReleasedBudgets {
  /** To be written before the steps: from then on nobody enters them again in a ledger that was lost. */
  readonly record: DisruptionRecord
  readonly steps: readonly DisruptionStep[]
}

/**
 * Releases the budgets of applications whose pods run again, while storage still recovers: that can take hours, and it can wait for a pod of
 * the very node which another tool drains, and that tool for one of these budgets.
 *
 * Assumes: the node is there and was heard of, or is gone.
 * Guarantees: the word that the node may go was taken back on record before; a budget of a namespace in which a pod that stayed does not run
 * yet is kept, whichever of its budgets covers it.
 */
export function releaseBudgets(
  { held, snapshot, request }: HeldView,
  record: DisruptionRecord,
  recovering: readonly Pick<PodFacts, 'namespace'>[],
): ReleasedBudgets {
  if (request.record.phase !== 'Recovering') return { record, steps: [] }
  const isFree = ({ namespace }: Pick<BudgetReference, 'namespace'>) =>
    !recovering.some((pod) => pod.namespace === namespace)
  const own = held.entries.flatMap(({ key, uid }): BudgetReference[] => {
    const budget = parseBudgetKey(key)
    return budget !== undefined && isFree(budget) ? [{ ...budget, uid }] : []
  })
  const isOwn = (uid: string) => own.some((budget) => budget.uid === uid)
  // Whoever died between the ledger and the budget has left its mark there.
  const marked = snapshot.budgets.filter(
    (budget) => budget.hold?.requestId === request.id && isFree(budget) && !isOwn(budget.uid),
  )
  const steps = unlockSteps([...own, ...marked])
  if (own.length > 0) steps.push({ step: 'release-budgets', epoch: held.epoch, keys: own.map(budgetKey) })
  return { record: withRecord(record, { releasedBudgets: withReferences(record.releasedBudgets, own) }), steps }
}

/** The locks that are still to be kept. */
export function withoutReleased(
  locks: readonly BudgetLock[],
  { releasedBudgets }: DisruptionRecord,
): readonly BudgetLock[] {
  if (releasedBudgets.length === 0) return locks
  const released = releasedBudgets.map(budgetKey)
  return locks.filter(({ budget }) => !released.includes(budgetKey(budget)))
}
