import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

const defaultBudget = 'rook-ceph-osd'
const domainLabel = 'topology-location-'

/** Whether the budget is one of those that follow the health of Ceph, and not a fixed one that somebody wrote. */
export function isStorageBudget(budget: PodDisruptionBudget): boolean {
  const { name } = budget.metadata
  return (
    controllerOf(budget)?.kind === 'CephCluster' && (name === defaultBudget || name.startsWith(`${defaultBudget}-`))
  )
}

/** The failure domain that a blocking budget is about; undefined for the default budget. */
export function blockedDomain({ spec }: PodDisruptionBudget): string | undefined {
  return Object.entries(spec.selector?.matchLabels ?? {}).find(([key]) => key.startsWith(domainLabel))?.[1]
}

/** The failure-domain type in use, as the blocking budgets that are there show it. */
export function blockedType(budgets: readonly PodDisruptionBudget[]): string | undefined {
  return budgets
    .filter(isStorageBudget)
    .flatMap(({ spec }) => Object.keys(spec.selector?.matchLabels ?? {}))
    .find((key) => key.startsWith(domainLabel))
    ?.slice(domainLabel.length)
}

/** The failure domain of an OSD's pod, by its label. */
export function domainOf({ metadata }: Pod, type: string | undefined): string | undefined {
  return type === undefined ? undefined : metadata.labels?.[`${domainLabel}${type}`]
}
