import type { Reason } from '../shared/reasons.ts'
import type { BudgetExplanation } from './explanation.ts'

/** What a budget says to the next eviction, for whoever has room for one sentence. */
export interface BudgetVerdict {
  /** `alarm`: waiting does not help. */
  readonly tone: 'calm' | 'busy' | 'alarm'
  readonly says: string
}

/** Allow no disruption by design, and open when somebody drains. */
const heldByDesign: readonly string[] = ['FollowsOsds', 'NotCordoned'] satisfies Reason[]
const neverOpen: readonly string[] = ['BudgetImpossible', 'BudgetUncountable'] satisfies Reason[]

/** The same answer as `explain pdb/…` gives, in one sentence. */
export function describeVerdict({ budget, blockers }: Pick<BudgetExplanation, 'budget' | 'blockers'>): BudgetVerdict {
  const { reason, explanation, allowed, healthy, desired } = budget
  const [first] = blockers
  if (reason === ('NoPods' satisfies Reason)) return { tone: 'calm', says: 'Covers no pods' }
  if (first === undefined) return { tone: 'calm', says: `${allowed} may go now` }
  const says = `Blocked: ${explanation}`
  if (heldByDesign.includes(reason)) return { tone: 'calm', says }
  const isBroken = reason === ('BudgetExhausted' satisfies Reason) && healthy < desired
  return { tone: isBroken || neverOpen.includes(reason) ? 'alarm' : 'busy', says }
}
