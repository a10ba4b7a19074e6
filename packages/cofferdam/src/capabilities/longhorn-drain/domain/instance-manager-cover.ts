import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { type BudgetCover, judgeBudgetCover } from '../../../shared/budget-cover.ts'
import { asDecided } from './as-decided.ts'
import { decideLonghornDrain } from './decide.ts'
import { type LonghornObjects, parseLonghorn } from './parse-longhorn.ts'

/**
 * Which instance managers have a budget at one moment, as `instance-manager-1 on node-1`, and which lost theirs though the decision
 * about drains keeps them.
 *
 * Fails closed: while Longhorn is not known, every budget that is gone was needed.
 */
export function judgeInstanceManagers(
  before: ReadonlySet<string>,
  now: {
    readonly pods: readonly Pod[]
    readonly budgets: readonly PodDisruptionBudget[]
    readonly longhorn: LonghornObjects | undefined
  },
): BudgetCover {
  const cover = judgeBudgetCover(before, now, nameOf)
  if (now.longhorn === undefined || cover.lost.length === 0) return cover
  const { budgets } = decideLonghornDrain(asDecided(parseLonghorn(now.longhorn)))
  const kept = new Set(budgets.filter(({ wanted }) => wanted === 'present').map((answer) => answer.instanceManager))
  const isKept = new Map(now.pods.map((pod) => [nameOf(pod), kept.has(pod.metadata.name)]))
  return { ...cover, lost: cover.lost.filter((name) => isKept.get(name) === true) }
}

/** The pod has the name of its instance manager. */
function nameOf({ metadata, spec }: Pod): string {
  return `${metadata.name} on ${spec.nodeName ?? 'no node'}`
}
