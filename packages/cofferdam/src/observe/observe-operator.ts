import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { operatorAccount } from '../deploy/operator-manifests.ts'
import type { OperatorStatus } from '../shared/operator-status.ts'

export interface OperatorQuestion {
  readonly api: Pick<KubeApi, 'get'>
  readonly leaseNamespace: string
  readonly now: string
  readonly signal: AbortSignal
}

export async function observeOperator(
  { api, leaseNamespace, now, signal }: OperatorQuestion,
  notSeen: string[],
): Promise<OperatorStatus> {
  const refusedBefore = notSeen.length
  const key = { namespace: leaseNamespace, name: operatorAccount.name }
  const lease = await ifAllowed(`lease ${key.namespace}/${key.name}`, notSeen, () => api.get(leases, key, { signal }))
  if (lease === undefined) return notSeen.length > refusedBefore ? {} : { isRunning: false }
  const { holderIdentity = '', leaseDurationSeconds = 0, renewTime, acquireTime } = lease.spec ?? {}
  const lapsesAt = Date.parse(renewTime ?? '') + leaseDurationSeconds * 1_000
  return {
    isRunning: holderIdentity !== '' && lapsesAt >= Date.parse(now),
    ...(holderIdentity === '' ? {} : { leader: holderIdentity }),
    ...(acquireTime ? { since: acquireTime } : {}),
    ...(renewTime ? { renewedAt: renewTime } : {}),
  }
}
