import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { expect, it } from 'vitest'
import { observeOperator } from './observe-operator.ts'

const lease: Lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'cofferdam-system', name: 'cofferdam-operator' },
  spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
}

it('an operator whose lease has lapsed does not run: people would wait for a drain that nobody works on', async () => {
  const api = { get: async () => lease } as unknown as KubeApi
  const { signal } = new AbortController()
  const observe = (now: string) => observeOperator({ api, leaseNamespace: 'cofferdam-system', now, signal }, [])
  expect(await observe('2026-01-01T00:00:15Z')).toMatchObject({ isRunning: true, leader: 'pod-1' })
  expect(await observe('2026-01-01T00:00:16Z')).toMatchObject({ isRunning: false, leader: 'pod-1' })
})
