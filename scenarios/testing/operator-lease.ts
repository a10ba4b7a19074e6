import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import { leases, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AskPorts } from './ask-commands.ts'

const namespace = 'cofferdam-system'
const name = 'cofferdam-operator'

/** The lease by which commands and the page see that an operator is there: those on a fixture run without one. */
export async function writeOperatorLease({ api, clock }: AskPorts): Promise<void> {
  await api
    .create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    .catch(() => undefined)
  await removeOperatorLease({ api })
  const now = timestamp(clock).replace('Z', '.000000Z')
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name },
    spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 86_400, acquireTime: now, renewTime: now },
  }
  await api.create(leases, lease)
}

export async function removeOperatorLease({ api }: Pick<AskPorts, 'api'>): Promise<void> {
  await api.delete(leases, { namespace, name }).catch(() => undefined)
}
