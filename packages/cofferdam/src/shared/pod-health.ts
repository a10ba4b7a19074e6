import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Cause } from './blocker.ts'
import type { CoveredPod } from './covered-pod.ts'

/** Whether a budget can count on the pod, and if not, why not and since when. */
export function explainPodHealth(pod: Pod): CoveredPod {
  const { nodeName } = pod.spec
  const place = { pod: keyText(keyOf(pod)), ...(nodeName ? { node: nodeName } : {}) }
  const { isHealthy, says, since } = healthOf(pod)
  return { ...place, isHealthy, says, ...(since === undefined ? {} : { since }) }
}

export function causeOf({ pod, says, since }: CoveredPod): Cause {
  return { object: `pod/${pod}`, says, ...(since === undefined ? {} : { since }) }
}

function healthOf(pod: Pod): { isHealthy: boolean; says: string; since: string | undefined } {
  const ready = conditionOf(pod, 'Ready')
  if (pod.metadata.deletionTimestamp !== undefined) {
    return { isHealthy: false, says: 'is leaving', since: conditionOf(pod, 'DisruptionTarget')?.lastTransitionTime }
  }
  if (ready?.status === 'True') return { isHealthy: true, says: 'is ready', since: ready.lastTransitionTime }
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False') {
    return { isHealthy: false, says: withDetail('has no node', scheduled), since: scheduled.lastTransitionTime }
  }
  const waiting = pod.status?.containerStatuses?.find(({ state }) => state?.waiting?.reason !== undefined)
  const detail = waiting?.state?.waiting?.reason ?? pod.status?.reason
  return {
    isHealthy: false,
    says: detail === undefined ? 'is not ready' : `is not ready: ${detail}`,
    since: ready?.lastTransitionTime ?? pod.metadata.creationTimestamp,
  }
}

function withDetail(says: string, { message, reason }: { readonly message?: string; readonly reason?: string }) {
  const detail = message || reason
  return detail ? `${says}: ${detail}` : says
}
