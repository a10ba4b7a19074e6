import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import { leases, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, microTimestamp } from '@cofferdam/kubernetes/runtime/clock.ts'

/** As an operator that leads: commands then say that somebody is in charge. */
export async function writeOperatorLease({
  api,
  clock,
}: {
  readonly api: KubeApi
  readonly clock: Clock
}): Promise<void> {
  const namespace = 'cofferdam-system'
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name: 'cofferdam-operator' },
    spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 3600, renewTime: microTimestamp(clock) },
  }
  await api.create(leases, lease)
}
