import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { waitingSince } from './claims.ts'
import type { DisruptionBlocker } from './decision.ts'
import type { DisruptionView } from './disruption-view.ts'
import type { PodFacts, PodLoss } from './snapshot.ts'

/** The flag of `kubectl drain` and of `cofferdam drain` that agrees to the loss. */
export const lossFlags = {
  force: '--force',
  deleteEmptyDirData: '--delete-emptydir-data',
} as const satisfies Record<PodLoss, string>

export const lossReasons = {
  force: 'PodHasNoController',
  deleteEmptyDirData: 'PodHasEmptyDirData',
} as const satisfies Record<PodLoss, Reason>

const lossWords: Record<PodLoss, string> = {
  force: 'No controller creates this pod again: an eviction deletes it for good',
  deleteEmptyDirData: 'An eviction deletes the data in its emptyDir volumes',
}

/** What an eviction of the pod destroys, as `kubectl drain` reckons. DaemonSet pods, mirror pods and finished pods lose nothing. */
export function lossesOf(pod: Pod): readonly PodLoss[] {
  const { phase } = pod.status ?? {}
  const isMirror = pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
  const controller = controllerOf(pod)
  if (phase === 'Succeeded' || phase === 'Failed' || isMirror || controller?.kind === 'DaemonSet') return none
  const hasEmptyDir = pod.spec.volumes?.some(({ emptyDir }) => emptyDir !== undefined) === true
  if (controller !== undefined && !hasEmptyDir) return none
  return [
    ...(controller === undefined ? ['force' as const] : []),
    ...(hasEmptyDir ? ['deleteEmptyDirData' as const] : []),
  ]
}

/** The same for all of the many pods that lose nothing. */
const none: readonly PodLoss[] = []

/** What of it the request has not agreed to. */
export function unaskedLosses(
  { losses }: Pick<PodFacts, 'losses'>,
  { accepts }: { readonly accepts: readonly PodLoss[] },
): readonly PodLoss[] {
  return losses.filter((loss) => !accepts.includes(loss))
}

/** The pods whose eviction would destroy something that nobody has agreed to lose: nothing is evicted while there is one. */
export function lossBlockers(view: DisruptionView, leaves: readonly PodFacts[]): DisruptionBlocker[] {
  const { request } = view
  const atStake = leaves.filter(({ losses }) => losses.length > 0)
  return atStake.flatMap((pod) =>
    unaskedLosses(pod, request).map((loss) => ({
      object: `pod/${pod.namespace}/${pod.name}`,
      holder: `spec.${loss} of nodedisruption/${request.name}`,
      since: waitingSince(view),
      reason: lossReasons[loss],
      wayOut: `${lossWords[loss]}. Set spec.${loss}: true (cofferdam drain ${lossFlags[loss]}), or move or delete the pod.`,
    })),
  )
}
