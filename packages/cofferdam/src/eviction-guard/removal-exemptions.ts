import type { PodRemoval } from './admission-review.ts'
import { ownControllers } from './domain/own-controllers.ts'

/**
 * Why a deletion is not judged, or undefined when it is.
 *
 * Without these a kubelet could not finish a pod that was let go, and the controllers of the cluster could not tidy up,
 * roll out or make room: none of that is a drain. Evictions are never exempt.
 */
export function exemptionOf({ verb, user, groups, pod }: PodRemoval): string | undefined {
  if (verb !== 'delete') return undefined
  if (pod?.metadata.deletionTimestamp !== undefined) return 'the pod is already terminating'
  if (groups.includes('system:nodes')) return 'a kubelet ends its own pods'
  if (pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed') return 'the pod has finished'
  if (ownControllers.test(user)) return 'a controller of the cluster itself'
  return undefined
}
