import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

/** Which running pods a budget selects at one moment, by the names their readers know, and which lost theirs since the moment before. */
export interface BudgetCover {
  readonly covered: ReadonlySet<string>
  readonly uncovered: readonly string[]
  readonly lost: readonly string[]
}

/** Judges one moment. A pod that does not run, or is about to go, needs no budget. */
export function judgeBudgetCover(
  before: ReadonlySet<string>,
  now: { readonly pods: Iterable<Pod>; readonly budgets: Iterable<PodDisruptionBudget> },
  nameOf: (pod: Pod) => string,
): BudgetCover {
  const budgets = [...now.budgets]
  const running = [...now.pods].filter(isRunning)
  const isCovered = ({ metadata }: Pod) =>
    budgets.some(({ spec }) => isSelected(spec.selector ?? {}, metadata.labels ?? {}))
  const uncovered = running.filter((pod) => !isCovered(pod)).map(nameOf)
  return {
    covered: new Set(running.filter(isCovered).map(nameOf)),
    uncovered: uncovered.sort(),
    lost: uncovered.filter((name) => before.has(name)).sort(),
  }
}

function isRunning({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Running'
}
