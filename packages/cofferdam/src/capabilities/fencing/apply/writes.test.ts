import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import { medik8sLeaseNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { leases, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it } from 'vitest'
import type { FencingViews } from '../observe/observe.ts'
import { FencingWrites } from './writes.ts'

it('a Lease that another maintenance tool has taken meanwhile is not freed: its node would be remediated under its hands', async () => {
  const { api, clock, stop } = openScenario()
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: medik8sLeaseNamespace } })
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: medik8sLeaseNamespace, name: 'node-a' },
    spec: { holderIdentity: 'ours' },
  }
  const seen = await api.create(leases, lease)
  await api.update(leases, { ...seen, spec: { holderIdentity: 'node-maintenance-operator' } })
  const views = { leases: { get: () => seen } } as unknown as FencingViews
  const writes = new FencingWrites({ api, clock, views }, new AbortController().signal)
  await writes.gate({ kind: 'free-lease', node: 'a', explanation: 'the drain is over' })
  const key = { namespace: medik8sLeaseNamespace, name: 'node-a' }
  expect(await api.get(leases, key)).toMatchObject({ spec: { holderIdentity: 'node-maintenance-operator' } })
  expect(writes.refused).toEqual([{ object: `lease/${medik8sLeaseNamespace}/node-a`, error: expect.any(ApiError) }])
  stop()
})
