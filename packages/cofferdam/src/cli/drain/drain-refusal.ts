import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { lossReasons } from '../../capabilities/drain-lock/domain/pod-losses.ts'
import { planDisruption } from '../../capabilities/drain-lock/view/plan-disruption.ts'
import { observeRehearsal } from '../observe/observe-rehearsal.ts'
import { asIfMade, findUnderWay, type WantedDisruption } from './drain-request.ts'
import type { PlannedDrain } from './drain-result.ts'

const refusing: readonly string[] = Object.values(lossReasons)

/**
 * Says no before a request is made whose drain would destroy pods that nobody asked to lose, as kubectl does.
 *
 * It asks the operator's own decision. What may not be read here is left to the operator, which holds such a request.
 */
export async function findRefusal(
  wanted: WantedDisruption,
  { api, clock, signal }: { readonly api: KubeApi; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<PlannedDrain | undefined> {
  const [standing] = await findUnderWay({ api, signal }, wanted.nodeName)
  if (standing !== undefined) return undefined
  const notSeen: string[] = []
  try {
    const snapshot = await observeRehearsal(asIfMade(wanted), { api, clock, signal, storage: [] }, notSeen)
    const plan = planDisruption(snapshot)
    if (!plan.blockedBy.some(({ reason }) => refusing.includes(reason))) return undefined
    return { outcome: 'refused', observedAt: timestamp(clock), plan, notSeen }
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return undefined
    throw error
  }
}
