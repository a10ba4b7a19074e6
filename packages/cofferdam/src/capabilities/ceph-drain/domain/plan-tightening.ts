import { asWanted, type BudgetStep, planOsdBudgets, type WantedBudget } from './osd-budgets.ts'
import type { CephDrainSnapshot, OsdBudget } from './snapshot.ts'
import { coverOf } from './wanted-budgets.ts'

/**
 * What is written of a plan while nothing may be let go yet: only what holds more than there is.
 *
 * Where a budget of ours over all OSDs stands, it is closed, with one write. Blocks beside it would hold nothing more, and until it goes
 * every eviction there would meet two budgets, which is an error. Blocks are created over what no such budget covers.
 */
export function planTightening(
  { budgets: actual, osds }: Pick<CephDrainSnapshot, 'budgets' | 'osds'>,
  desired: readonly WantedBudget[],
): BudgetStep[] {
  const steps = planOsdBudgets(actual, desired)
  const ours = actual.filter(({ isOurs }) => isOurs)
  if (ours.length === 0) return steps
  const names = new Set(actual.map(({ name }) => name))
  const blocks = steps.flatMap((step) =>
    step.action === 'apply' && step.budget.maxUnavailable === 0 && !names.has(step.budget.name) ? [step.budget] : [],
  )
  const isOverAll = ({ selector }: OsdBudget) => selector.covers === 'all'
  const closed = blocks.length === 0 ? [] : ours.filter((budget) => isOverAll(budget) && budget.maxUnavailable > 0)
  const isHeld = coverOf(ours.filter((budget) => budget.maxUnavailable === 0 || isOverAll(budget)))
  const created = blocks.filter((block) => osds.filter(coverOf([block])).some((osd) => !isHeld(osd)))
  return [...closed.map((budget) => ({ ...asWanted(budget), maxUnavailable: 0 })), ...created].map((budget) => ({
    action: 'apply',
    budget,
  }))
}
