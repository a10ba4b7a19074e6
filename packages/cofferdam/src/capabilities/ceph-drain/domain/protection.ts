import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'

/** Which OSDs have a budget at one moment, and which have lost theirs since the moment before. */
export interface Protection {
  /** Names of OSDs, such as `osd.4`. */
  readonly covered: ReadonlySet<string>
  readonly uncovered: readonly string[]
  readonly lost: readonly string[]
}

/**
 * Judges one moment. OSDs of a failure domain that is open for a drain may go, so they need no budget; one that runs elsewhere, had a
 * budget and has none is without protection.
 */
export function judgeProtection(
  before: ReadonlySet<string>,
  now: {
    readonly osdPods: Iterable<Pod>
    readonly budgets: Iterable<PodDisruptionBudget>
    readonly openDomains: readonly string[]
  },
): Protection {
  const budgets = [...now.budgets]
  const running = [...now.osdPods].filter(isRunning).filter((pod) => !isOpen(pod, now.openDomains))
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

function isOpen({ metadata: { labels = {} } }: Pod, openDomains: readonly string[]): boolean {
  return Object.entries(labels).some(
    ([key, value]) => key.startsWith('topology-location-') && openDomains.includes(value),
  )
}

function nameOf({ metadata: { labels, name } }: Pod): string {
  const id = labels?.['ceph-osd-id'] ?? labels?.['osd']
  return id === undefined ? `pod/${name}` : `osd.${id}`
}
