import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { type BudgetCover, judgeBudgetCover } from '../../../shared/budget-cover.ts'

/**
 * Which OSDs, such as `osd.4`, have a budget at one moment. Those of a failure domain that is open for a drain may go, so they need none; one that
 * runs elsewhere, had a budget and has none is without protection.
 */
export function judgeProtection(
  before: ReadonlySet<string>,
  now: {
    readonly osdPods: Iterable<Pod>
    readonly budgets: Iterable<PodDisruptionBudget>
    readonly openDomains: readonly string[]
  },
): BudgetCover {
  const pods = [...now.osdPods].filter((pod) => !isOpen(pod, now.openDomains))
  return judgeBudgetCover(before, { pods, budgets: now.budgets }, nameOf)
}

function isOpen({ metadata: { labels = {} } }: Pod, openDomains: readonly string[]): boolean {
  return Object.entries(labels).some(
    ([key, value]) => key.startsWith('topology-location-') && openDomains.includes(value),
  )
}

function nameOf({ metadata: { labels, name } }: Pod): string {
  const id = labels?.['ceph-osd-id'] ?? labels?.['osd']
  return id === undefined ? `pod/${name}` : `osd.${id}`
}
