import type { PodDisruptionBudget } from './policy.ts'

/** One write of a budget. What is replaced or deleted is given as it was seen, so that nothing newer is overwritten. */
export type BudgetWrite =
  | { readonly verb: 'create'; readonly budget: PodDisruptionBudget }
  | { readonly verb: 'replace'; readonly seen: PodDisruptionBudget; readonly budget: PodDisruptionBudget }
  | { readonly verb: 'delete'; readonly seen: PodDisruptionBudget }
