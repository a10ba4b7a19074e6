import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { createFenceGate } from './gate.ts'

const { signal } = new AbortController()
const cluster: CephCluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'my-cluster' },
  spec: {},
}
const clusters = { list: () => [cluster] } as unknown as WatchView<CephCluster>

function gateWith(error: Error) {
  return createFenceGate({ api: { get: () => Promise.reject(error) }, clock: new VirtualClock(), clusters })
}

it('a budget of machines that cannot be read is not taken for closed: a zone would go beside a fence in another', async () => {
  const gate = gateWith(new ApiError('InternalError', 'etcdserver: request timed out'))
  expect(await gate.observe(cluster, 'zone-a', signal)).toEqual({ known: false, why: 'etcdserver: request timed out' })
})

it('where there is no budget of machines nothing can be fenced by one, and drains go on', async () => {
  const gate = gateWith(new ApiError('NotFound', 'there is none'))
  expect(await gate.observe(cluster, 'zone-a', signal)).toEqual({ known: true, value: 'closed' })
})
